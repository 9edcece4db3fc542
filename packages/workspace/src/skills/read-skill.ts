import { type Audience, mayRead, type Reader } from '@parley/core';
import { SKILL_FILE } from '../audience.ts';
import { parseFile } from '../front-matter.ts';
import { parseFileName } from '../paths.ts';
import type { AbsentSkill, SkillText } from './catalogue.ts';
import { checkFile, type FoundSkill, readSkillFile } from './find-skills.ts';
import { getSkillFolderName, type UsableSkill } from './resolve-skills.ts';
import { parseSkill } from './skill-file.ts';

/**
 * Reads the current text of a skill's file, without front matter; `shownFolder` replaces
 * `{baseDir}` in it. The audience is decided from the returned bytes, not from an earlier read.
 * Never throws.
 */
export async function readSkillText(
  { found, skill, audience }: UsableSkill,
  reader: Reader,
  file = SKILL_FILE,
  { maxBytes, shownFolder }: { readonly maxBytes: number; readonly shownFolder: string },
): Promise<SkillText | AbsentSkill> {
  const path = parseFileName(file);
  if (path === null)
    return createUnreadableSkill(`"${file}" is not a path inside the skill's folder`);
  const segments = [...found.segments, ...path.segments];
  const checked = checkFile(found.root, segments, maxBytes);
  const read =
    checked.kind === 'file'
      ? await readSkillFile(found.root, segments, checked.file, maxBytes)
      : checked;
  if (read.kind === 'missing')
    return createUnreadableSkill(`the skill ${skill.name} has no file ${file}`);
  if (read.kind === 'refused')
    return createUnreadableSkill(`${file} of the skill ${skill.name}: ${read.reason}`);
  const parsed =
    file === SKILL_FILE
      ? parseSkillText(read.text, getSkillFolderName(found))
      : parseFile(`skills/${getSkillFolderName(found)}/${file}`, read.text, false);
  const isShown =
    mayRead(reader, parsed.audience) &&
    (reader.kind === 'owner' || !(await isReservedForOwner(found, path.segments, maxBytes)));
  if (!isShown) return createUnreadableSkill(`the skill ${skill.name} has no file ${file}`);
  const strictest = audience.kind === 'owner' ? audience : parsed.audience;
  const source = `skill ${skill.name}${file === SKILL_FILE ? '' : `, ${file}`}`;
  const text = parsed.text.replaceAll('{baseDir}', () => shownFolder);
  return { kind: 'skill', name: skill.name, text, source, audience: strictest };
}

/**
 * Whether a nested SKILL.md reserves its folder for the owner, or cannot be read, decided as in the
 * views.
 */
async function isReservedForOwner(
  { root, segments }: FoundSkill,
  way: readonly string[],
  maxBytes: number,
): Promise<boolean> {
  for (let depth = 1; depth < way.length; depth += 1) {
    const path = [...segments, ...way.slice(0, depth), SKILL_FILE];
    const checked = checkFile(root, path, maxBytes);
    if (checked.kind === 'missing') continue;
    if (checked.kind !== 'file') return true;
    const read = await readSkillFile(root, path, checked.file, maxBytes);
    if (read.kind !== 'text') return true;
    const { audience } = parseFile(`skills/${SKILL_FILE}`, read.text, false);
    if (audience.kind === 'owner') return true;
  }
  return false;
}

function parseSkillText(raw: string, folder: string): { text: string; audience: Audience } {
  const { content, body } = parseSkill(raw, folder);
  const isPublic = content.kind === 'skill' && content.foreveryone;
  return { text: body, audience: { kind: isPublic ? 'everyone' : 'owner' } };
}

function createUnreadableSkill(detail: string): AbsentSkill {
  return { kind: 'absent', reason: 'unreadable', detail };
}
