import type { Audience } from '@parley/core';
import { isInSkillsFolder, SKILL_FILE } from './audience.ts';
import type { FileCache } from './file-cache.ts';
import type { ParsedFile } from './front-matter.ts';
import type { FileName } from './paths.ts';

/**
 * Decides a file's audience from its name, its front matter, and the skill whose folder contains
 * it. Views use this audience to decide what they show, and shell commands to decide which files
 * they must not change or leave behind.
 */
export async function decideFileAudience(
  files: FileCache,
  path: FileName,
  file: ParsedFile,
): Promise<Audience> {
  return (await isPrivateBySkill(files, path)) ? { kind: 'owner' } : file.audience;
}

/**
 * Whether a file below `skills/` is private regardless of its content, because there is no open
 * SKILL.md above it. Scripts and references do not have front matter that could declare an audience
 * (W03).
 */
export async function isPrivateBySkill(files: FileCache, path: FileName): Promise<boolean> {
  const above = await findSkillAudience(files, path);
  return above === 'owners' || (above === 'none' && path.segments.at(-1) !== SKILL_FILE);
}

/**
 * Finds the audience that the SKILL.md files assign to a file below `skills/`: `owners` if one of
 * them is private or cannot be read, null if the file is not below `skills/`.
 */
export async function findSkillAudience(
  files: FileCache,
  { segments }: FileName,
): Promise<'open' | 'owners' | 'none' | null> {
  if (!isInSkillsFolder(segments)) return null;
  let found: 'open' | 'none' = 'none';
  // The audience of the SKILL.md file itself is already decided.
  const own = segments.at(-1) === SKILL_FILE ? 2 : 1;
  for (let depth = segments.length - own; depth > 1; depth -= 1) {
    const path = [...segments.slice(0, depth), SKILL_FILE];
    const skill = await files.get({ name: path.join('/'), segments: path });
    if ('reason' in skill) {
      if (skill.reason !== 'missing') return 'owners';
    } else if (skill.audience.kind === 'owner') return 'owners';
    else found = 'open';
  }
  return found;
}
