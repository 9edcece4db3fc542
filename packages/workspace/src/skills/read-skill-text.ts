import { type Audience, mayRead, type Reader } from '@parley/contracts';
import { parseFileName } from '../file-name.ts';
import { parseFile } from '../parse-file.ts';
import { parseSkill } from './parse-skill.ts';
import { lookAt, readSkillFile } from './read-skill-file.ts';
import { folderOf, type UsableSkill } from './resolve-skills.ts';
import { SKILL_FILE } from './scan-folder.ts';
import type { AbsentSkill, SkillText } from './skills.ts';

/** Which file of a skill is read, and for whom. */
export interface SkillReading {
  readonly reader: Reader;
  /** SKILL.md where absent. */
  readonly file?: string | undefined;
  readonly maxBytes: number;
  /** The skill's folder as the model sees it; stands for `{baseDir}` in its text. */
  readonly shownFolder: string;
}

/**
 * Today's text of a skill's file, without front matter. The audience is decided by the very bytes that
 * are given out, whatever the skill said when it was found. Never throws.
 */
export async function readSkillText(
  { found, skill, audience }: UsableSkill,
  { reader, file = SKILL_FILE, maxBytes, shownFolder }: SkillReading,
): Promise<SkillText | AbsentSkill> {
  const path = parseFileName(file);
  if (path === null) return absent(`"${file}" is no path inside the folder of a skill`);
  const segments = [...found.segments, ...path.segments];
  const looked = lookAt(found.root, segments, maxBytes);
  const read =
    looked.kind === 'file' ? await readSkillFile(found.root, segments, looked, maxBytes) : looked;
  if (read.kind === 'missing') return absent(`the skill ${skill.name} has no file ${file}`);
  if (read.kind === 'refused') return absent(`${file} of the skill ${skill.name}: ${read.reason}`);
  const parsed =
    file === SKILL_FILE
      ? ofSkill(read.text, folderOf(found))
      : parseFile(`skills/${folderOf(found)}/${file}`, read.text, false);
  if (!mayRead(reader, parsed.audience))
    return absent(`the skill ${skill.name} has no file ${file}`);
  const strictest = audience.kind === 'owner' ? audience : parsed.audience;
  const source = `skill ${skill.name}${file === SKILL_FILE ? '' : `, ${file}`}`;
  const text = parsed.text.replaceAll('{baseDir}', () => shownFolder);
  return { kind: 'skill', name: skill.name, text, source, audience: strictest };
}

function ofSkill(raw: string, folder: string): { text: string; audience: Audience } {
  const { content, body } = parseSkill(raw, folder);
  const isPublic = content.kind === 'skill' && content.foreveryone;
  return { text: body, audience: { kind: isPublic ? 'everyone' : 'owner' } };
}

function absent(detail: string): AbsentSkill {
  return { kind: 'absent', reason: 'unreadable', detail };
}
