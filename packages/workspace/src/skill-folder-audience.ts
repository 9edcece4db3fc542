import type { FileCache } from './file-cache.ts';
import type { FileName } from './file-name.ts';

/** What a skill says of itself, and so of its folder. */
const SKILL_FILE = 'SKILL.md';

/**
 * Whether a file lies in the folder of a skill that is the owner's: its scripts and references are the
 * owner's, too, without saying so themselves (W03). The same where SKILL.md cannot be read.
 */
export async function liesInOwnersSkill(
  files: FileCache,
  { segments }: FileName,
): Promise<boolean> {
  if (!isSkills(segments[0])) return false;
  for (let depth = segments.length - 1; depth > 1; depth -= 1) {
    const path = [...segments.slice(0, depth), SKILL_FILE];
    const skill = await files.get({ name: path.join('/'), segments: path });
    const isOwners =
      'reason' in skill ? skill.reason !== 'missing' : skill.audience.kind === 'owner';
    if (isOwners) return true;
  }
  return false;
}

/** Folded as some file systems fold names. */
function isSkills(folder: string | undefined): boolean {
  return folder?.normalize('NFKC').toLowerCase() === 'skills';
}
