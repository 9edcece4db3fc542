import { readFrontMatter } from '../front-matter.ts';
import { SkillHeader, SkillName } from './skill-header.ts';

/** A skill that can be told of. */
export interface ParsedSkill extends SkillHeader {
  readonly kind: 'skill';
  readonly name: string;
}

/** A SKILL.md that is no skill, and why; for people. */
export interface RefusedSkill {
  readonly kind: 'refused';
  readonly reason: string;
}

/**
 * Reads a SKILL.md (S01); `folder` names the skill where it does not do so itself. The body comes
 * beside what is kept of the skill: it is read anew whenever it is wanted.
 */
export function parseSkill(
  raw: string,
  folder: string,
): { readonly content: ParsedSkill | RefusedSkill; readonly body: string } {
  const front = readFrontMatter(raw, SkillHeader);
  const { body } = front;
  if (front.kind === 'refused') return { content: refused(front.reason), body };
  if (front.kind === 'none') {
    const reason = 'it has no front matter: name and description between two lines of ---';
    return { content: refused(reason), body };
  }
  if (body === '') return { content: refused('it says nothing below its front matter'), body };
  const named = SkillName.safeParse(front.data.name ?? folder);
  if (!named.success) {
    const why = named.error.issues[0]?.message ?? '';
    return { content: refused(`it has no name, and its folder cannot name it: ${why}`), body };
  }
  return { content: { ...front.data, kind: 'skill', name: named.data }, body };
}

function refused(reason: string): RefusedSkill {
  return { kind: 'refused', reason };
}
