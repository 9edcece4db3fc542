import { createHash } from 'node:crypto';
import type { Audience } from '@parley/contracts';
import type { Catalogue } from './catalogue.ts';
import type { UsableSkill } from './resolve-skills.ts';
import type { SkillSnapshot } from './skill-snapshot.ts';
import type { AbsentSkill, SkillText } from './skills.ts';

/** What a snapshot is made from. */
export interface SnapshotParts {
  readonly catalogue: Catalogue;
  /** The skills in the catalogue, in its order. */
  readonly skills: readonly UsableSkill[];
  readonly inline: SkillSnapshot['inline'];
  readonly filter: readonly string[] | null;
}

/** Puts a snapshot together (S07); its version is a print of everything in it. */
export function makeSnapshot({ catalogue, skills, inline, filter }: SnapshotParts): SkillSnapshot {
  const isPrivate = skills.some(({ audience }) => audience.kind === 'owner');
  const audience: Audience = isPrivate ? { kind: 'owner' } : { kind: 'everyone' };
  const content = {
    catalogue: catalogue.text,
    inline,
    names: skills.map(({ skill }) => skill.name),
    requiredEnv: [...new Set(skills.flatMap(({ skill }) => skill.requires.env))].sort(),
    filter,
    left: catalogue.left,
    audience,
  };
  const version = createHash('sha256').update(JSON.stringify(content)).digest('base64url');
  return { version: version.slice(0, 16), ...content };
}

/** The bodies that stand in the prompt: in order, each that still fits into `characters`. */
export function textsThatFit(
  texts: readonly (SkillText | AbsentSkill)[],
  characters: number,
): SkillSnapshot['inline'] {
  let left = characters;
  return texts.flatMap((text) => {
    if (text.kind === 'absent' || text.text.length > left) return [];
    left -= text.text.length;
    return [{ name: text.name, body: text.text }];
  });
}
