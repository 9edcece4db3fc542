import { join } from 'node:path';
import { estimateTokens } from '../estimate-tokens.ts';
import { entryText } from './catalogue.ts';
import { folderOf, type ResolvedSkill } from './resolve-skills.ts';
import { SKILL_FILE } from './scan-folder.ts';
import { locationOf, oneLine } from './skill-text.ts';
import type { SkillStatus } from './skills.ts';

/** What people are told of a skill (S09). `isShown`: the catalogue of an owner has it. */
export function statusOf(
  { found, skill, state, reason, audience, command, commandProblem }: ResolvedSkill,
  isShown: boolean,
  homes: readonly string[],
): SkillStatus {
  const folder = join(found.root, ...found.segments);
  const location = locationOf(skill === null ? folder : join(folder, SKILL_FILE), homes);
  const forModel = skill !== null && !skill.disablemodelinvocation;
  const base = {
    name: oneLine(skill?.name ?? folderOf(found)),
    source: found.source,
    location,
    description: skill?.description ?? '',
    emoji: skill?.emoji ?? null,
    install: skill?.install ?? [],
    audience,
    forModel,
    command,
    commandProblem,
  };
  if (state !== 'ready' || !forModel) return { ...base, state, reason, tokens: 0 };
  if (!isShown) {
    const full = 'the catalogue is full: skills.max or skills.maxCharacters';
    return { ...base, state: 'left-out', reason: full, tokens: 0 };
  }
  const tokens = estimateTokens(entryText({ ...base, location }));
  return { ...base, state, reason, tokens };
}
