import type { FileCache } from './file-cache.ts';
import type { FileName } from './file-name.ts';
import { SKILL_FILE } from './skills/scan-folder.ts';

/**
 * Whether a file lies in the folder of a skill that is the owner's: its scripts and references are the
 * owner's, too, without saying so themselves (W03). The same where SKILL.md cannot be read.
 */
export async function liesInOwnersSkill(
  files: FileCache,
  { segments }: FileName,
): Promise<boolean> {
  if (!isInSkills(segments)) return false;
  // Of its own SKILL.md the audience is known anyway.
  const isSkill = segments.at(-1) === SKILL_FILE;
  for (let depth = segments.length - (isSkill ? 2 : 1); depth > 1; depth -= 1) {
    const path = [...segments.slice(0, depth), SKILL_FILE];
    const skill = await files.get({ name: path.join('/'), segments: path });
    const isOwners =
      'reason' in skill ? skill.reason !== 'missing' : skill.audience.kind === 'owner';
    if (isOwners) return true;
  }
  return false;
}

/** Folded as some file systems fold names. */
export function isInSkills([folder]: FileName['segments']): boolean {
  return folder?.normalize('NFKC').toLowerCase() === 'skills';
}
