import { basename } from 'node:path';
import { type Audience, mayRead, type Reader } from '@parley/contracts';
import { commandNameOf } from './command-name.ts';
import { type SkillFacts, whyNotEligible } from './eligibility.ts';
import type { ParsedSkill } from './parse-skill.ts';
import type { FoundSkill } from './scan-folder.ts';
import { foldName } from './skill-text.ts';
import type { SkillState } from './skills.ts';

/** A skill with everything decided that does not depend on who reads. */
export interface ResolvedSkill {
  readonly found: FoundSkill;
  /** Null where it is refused. */
  readonly skill: ParsedSkill | null;
  readonly state: SkillState;
  readonly reason: string | null;
  readonly audience: Audience;
  readonly command: string | null;
  readonly commandProblem: string | null;
}

/** A skill that can be used. */
export interface UsableSkill extends ResolvedSkill {
  readonly skill: ParsedSkill;
}

/** What skills are decided by. */
export interface SkillRules {
  /** Names that alone are allowed; undefined: all. */
  readonly allow: readonly string[] | undefined;
  /** Never these, even if allowed. */
  readonly block: readonly string[];
  /** Commands that are taken. */
  readonly reserved: readonly string[];
}

/**
 * Decides about all skills, found in the order of their sources, the weakest first. The result is in
 * the order of the catalogue: the strongest source first, then by name.
 */
export function resolveSkills(
  found: readonly FoundSkill[],
  rules: SkillRules,
  facts: SkillFacts,
): readonly ResolvedSkill[] {
  const winners = new Map<string, FoundSkill>();
  for (const one of found) {
    if (one.content.kind === 'refused') continue;
    const key = foldName(one.content.name);
    const before = winners.get(key);
    // Within one folder the first of a name stays: which one was meant cannot be known.
    if (before === undefined || !isSameFolder(before, one)) winners.set(key, one);
  }
  const commands = new Map<string, string>();
  const decide = (one: FoundSkill): ResolvedSkill => {
    const { content } = one;
    const audience: Audience =
      content.kind === 'skill' && content.foreveryone ? { kind: 'everyone' } : { kind: 'owner' };
    const base = { found: one, audience, command: null, commandProblem: null };
    if (content.kind === 'refused') {
      return { ...base, skill: null, state: 'refused', reason: content.reason };
    }
    const verdict = decideState(one, content, winners, rules, facts);
    const usable = verdict.state === 'ready';
    const command = usable ? takeCommand(content, rules.reserved, commands) : {};
    return { ...base, ...command, ...verdict, skill: content };
  };
  return found.toSorted(byRank(found)).map(decide);
}

/** Those that `reader` may see and that can be used, in the order of the catalogue. */
export function usableBy(
  resolved: readonly ResolvedSkill[],
  reader: Reader,
): readonly UsableSkill[] {
  return resolved.flatMap((one) =>
    one.state === 'ready' && one.skill !== null && mayRead(reader, one.audience)
      ? [{ ...one, skill: one.skill }]
      : [],
  );
}

function decideState(
  one: FoundSkill,
  skill: ParsedSkill,
  winners: ReadonlyMap<string, FoundSkill>,
  { allow, block }: SkillRules,
  facts: SkillFacts,
): { readonly state: SkillState; readonly reason: string | null } {
  const key = foldName(skill.name);
  const winner = winners.get(key);
  if (winner !== undefined && winner !== one) {
    return isSameFolder(winner, one)
      ? { state: 'refused', reason: `${folderOf(winner)} beside it has the same name` }
      : { state: 'shadowed', reason: `${winner.source} has a skill of the same name` };
  }
  const isIn = (names: readonly string[]) => names.some((name) => foldName(name) === key);
  if (isIn(block)) return { state: 'blocked', reason: 'skills.block names it' };
  if (allow !== undefined && !isIn(allow)) {
    return { state: 'not-allowed', reason: 'skills.allow does not name it' };
  }
  const lacking = whyNotEligible(skill, facts);
  return lacking === null
    ? { state: 'ready', reason: null }
    : { state: 'not-eligible', reason: lacking };
}

/** Gives a skill its command; `taken` remembers whose each is. */
function takeCommand(
  skill: ParsedSkill,
  reserved: readonly string[],
  taken: Map<string, string>,
): { readonly command: string | null; readonly commandProblem: string | null } {
  if (!skill.userinvocable) return { command: null, commandProblem: null };
  const command = commandNameOf(skill.name);
  const none = (commandProblem: string) => ({ command: null, commandProblem });
  if (command === null) return none('no command: its name has no letter a–z and no digit');
  if (reserved.includes(command)) return none(`no command: /${command} is one of Parley’s own`);
  const other = taken.get(command);
  if (other !== undefined) return none(`no command: /${command} is the skill ${other}`);
  taken.set(command, skill.name);
  return { command, commandProblem: null };
}

/** The strongest source first, then by name; what has no name stands by its folder. */
function byRank(found: readonly FoundSkill[]) {
  const roots = [...new Set(found.map(rootOf))];
  const rank = new Map(roots.map((root, index) => [root, index]));
  const nameOf = (one: FoundSkill) =>
    one.content.kind === 'skill' ? foldName(one.content.name) : folderOf(one);
  return (a: FoundSkill, b: FoundSkill): number => {
    const apart = (rank.get(rootOf(b)) ?? 0) - (rank.get(rootOf(a)) ?? 0);
    if (apart !== 0) return apart;
    return nameOf(a) < nameOf(b) ? -1 : 1;
  };
}

function isSameFolder(a: FoundSkill, b: FoundSkill): boolean {
  return rootOf(a) === rootOf(b);
}

/** Two sources may be the same folder on disk; they are told apart all the same. */
function rootOf({ source, root }: FoundSkill): string {
  return `${source} ${root}`;
}

/** The name of a skill's own folder. */
export function folderOf({ segments, root }: FoundSkill): string {
  return segments.at(-1) ?? basename(root);
}
