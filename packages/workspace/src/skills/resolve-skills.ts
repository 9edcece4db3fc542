import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { basename, delimiter, join } from 'node:path';
import { type Audience, mayRead, type Reader } from '@parley/core';
import { foldName } from '../folded-names.ts';
import type { FoundSkill } from './find-skills.ts';
import type { ParsedSkill } from './skill-file.ts';
import type { SkillHeader } from './skill-header.ts';

/**
 * `ready`: in the catalog for readers who may see the skill. `left-out`: excluded by the limits of
 * the catalog. `shadowed`: another skill with the same name takes precedence. `refused`: the skill
 * is broken, too large or hostile. The other states depend on the operator's settings and the
 * machine.
 */
export type SkillState =
  | 'ready'
  | 'left-out'
  | 'not-eligible'
  | 'not-allowed'
  | 'blocked'
  | 'shadowed'
  | 'refused';

/** The source of the value for a skill's key variable; null if there is no value. */
export type KeySource = 'environment' | 'settings' | null;

/** A skill with all decisions that do not depend on the reader. */
export interface ResolvedSkill {
  readonly found: FoundSkill;
  /** Null for a refused skill. */
  readonly skill: ParsedSkill | null;
  readonly state: SkillState;
  readonly reason: string | null;
  readonly audience: Audience;
  readonly command: string | null;
  readonly commandProblem: string | null;
  /** The source of the skill's key (`primaryEnv`). */
  readonly key: KeySource;
}

export interface UsableSkill extends ResolvedSkill {
  readonly skill: ParsedSkill;
}

/** The settings that decide which skills may be used. */
export interface SkillRules {
  /** The only allowed names, apart from skills marked `always`; undefined allows all names. */
  readonly allow: readonly string[] | undefined;
  /** Names that are never allowed, even if also listed in `allow`. */
  readonly block: readonly string[];
  /** Commands that are already taken by something other than a skill. */
  readonly reserved: readonly string[];
  /** Whether the settings contain an `apiKey` for the skill. */
  readonly hasKey: (name: string) => boolean;
}

/**
 * Decides about all skills, which are given in source order, from the weakest to the strongest. The
 * result is in catalog order: the strongest source first, then by name.
 */
export function resolveSkills(
  found: readonly FoundSkill[],
  rules: SkillRules,
  facts: SkillEnvironment,
): readonly ResolvedSkill[] {
  const winners = new Map<string, FoundSkill>();
  for (const one of found) {
    if (one.content.kind === 'refused') continue;
    const key = foldName(one.content.name);
    const before = winners.get(key);
    // Of two skills with the same name in one folder, the first is kept, because it is unknown
    // which one was intended.
    if (before === undefined || !isSameFolder(before, one)) winners.set(key, one);
  }
  const commands = new Map<string, string>();
  const decide = (one: FoundSkill): ResolvedSkill => {
    const { content } = one;
    const audience: Audience =
      content.kind === 'skill' && content.foreveryone ? { kind: 'everyone' } : { kind: 'owner' };
    const base = { found: one, audience, command: null, commandProblem: null, key: null };
    if (content.kind === 'refused') {
      return { ...base, skill: null, state: 'refused', reason: content.reason };
    }
    const key = findKeySource(content, rules, facts);
    const verdict = decideSkillState(one, { ...content, key }, winners, rules, facts);
    const usable = verdict.state === 'ready';
    const command = usable
      ? assignCommand(content, getSkillFolderName(one), rules.reserved, commands)
      : {};
    return { ...base, key, ...command, ...verdict, skill: content };
  };
  return found.toSorted(sortByRank(found)).map(decide);
}

/** Lists the usable skills that `reader` may see, in catalog order. */
export function listUsableSkills(
  resolved: readonly ResolvedSkill[],
  reader: Reader,
): readonly UsableSkill[] {
  return resolved.flatMap((one) =>
    one.state === 'ready' && one.skill !== null && mayRead(reader, one.audience)
      ? [{ ...one, skill: one.skill }]
      : [],
  );
}

function decideSkillState(
  one: FoundSkill,
  skill: ParsedSkill & Pick<ResolvedSkill, 'key'>,
  winners: ReadonlyMap<string, FoundSkill>,
  { allow, block }: SkillRules,
  facts: SkillEnvironment,
): { readonly state: SkillState; readonly reason: string | null } {
  const key = foldName(skill.name);
  const winner = winners.get(key);
  if (winner !== undefined && winner !== one) {
    return isSameFolder(winner, one)
      ? { state: 'refused', reason: `${getSkillFolderName(winner)} beside it has the same name` }
      : { state: 'shadowed', reason: `${winner.source} has a skill with the same name` };
  }
  const isIn = (names: readonly string[]) => names.some((name) => foldName(name) === key);
  if (isIn(block)) return { state: 'blocked', reason: 'skills.block names it' };
  // A skill marked `always` does not have to be allowed; only `block` removes it.
  if (allow !== undefined && !skill.always && !isIn(allow)) {
    return { state: 'not-allowed', reason: 'it is not listed in skills.allow' };
  }
  const lacking = describeIneligible(skill, facts);
  return lacking === null
    ? { state: 'ready', reason: null }
    : { state: 'not-eligible', reason: lacking };
}

/**
 * Finds the source of a skill's key; the environment takes precedence over the settings, as in
 * OpenClaw.
 */
function findKeySource(
  { name, primaryenv }: ParsedSkill,
  { hasKey }: SkillRules,
  { env }: SkillEnvironment,
): KeySource {
  if (primaryenv === undefined) return null;
  if (isEnvVariableSet(env, primaryenv)) return 'environment';
  return hasKey(name) ? 'settings' : null;
}

/** Assigns a skill its command; `taken` maps commands to skills. */
function assignCommand(
  skill: ParsedSkill,
  folder: string,
  reserved: readonly string[],
  taken: Map<string, string>,
): { readonly command: string | null; readonly commandProblem: string | null } {
  if (!skill.userinvocable) return { command: null, commandProblem: null };
  const command = toCommandName(skill.name) ?? toCommandName(folder);
  const none = (commandProblem: string) => ({ command: null, commandProblem });
  if (command === null)
    return none('no command: neither its name nor its folder has a letter a–z or a digit');
  if (reserved.includes(command)) return none(`no command: /${command} is one of Parley’s own`);
  const other = taken.get(command);
  if (other !== undefined) return none(`no command: /${command} belongs to the skill ${other}`);
  taken.set(command, skill.name);
  return { command, commandProblem: null };
}

/** Sorts by the strongest source, then by name; a skill without a name is sorted by its folder. */
function sortByRank(found: readonly FoundSkill[]) {
  const roots = [...new Set(found.map(getSkillRoot))];
  const rank = new Map(roots.map((root, index) => [root, index]));
  const nameOf = (one: FoundSkill) =>
    one.content.kind === 'skill' ? foldName(one.content.name) : getSkillFolderName(one);
  return (a: FoundSkill, b: FoundSkill): number => {
    const apart = (rank.get(getSkillRoot(b)) ?? 0) - (rank.get(getSkillRoot(a)) ?? 0);
    if (apart !== 0) return apart;
    return nameOf(a) < nameOf(b) ? -1 : 1;
  };
}

function isSameFolder(a: FoundSkill, b: FoundSkill): boolean {
  return getSkillRoot(a) === getSkillRoot(b);
}

/** Two sources may be the same folder on disk; they still count as two. */
function getSkillRoot({ source, root }: FoundSkill): string {
  return `${source} ${root}`;
}

/** The name of a skill's own folder. */
export function getSkillFolderName({ segments, root }: FoundSkill): string {
  return segments.at(-1) ?? basename(root);
}

/** Information about the machine, and the settings for skills. */
export interface SkillEnvironment {
  /** The operating system, as named by Node: `linux`, `darwin`, `win32`. */
  readonly os: string;
  /** The programs that skills require and that were found on the machine. */
  readonly bins: ReadonlySet<string>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The settings, to check `requires.config: agent.workspace`. */
  readonly settings: unknown;
  /** The names of the agent's tools. */
  readonly tools: ReadonlySet<string>;
}

const OS_NAMES: Readonly<Record<string, string>> = {
  macos: 'darwin',
  mac: 'darwin',
  windows: 'win32',
};

/**
 * Describes why a skill cannot be used on this machine (S03); null if it can be used. A skill
 * marked `always` does not require anything.
 */
export function describeIneligible(
  {
    always,
    os,
    requires,
    primaryenv,
    key = null,
  }: Pick<SkillHeader, 'always' | 'os' | 'requires' | 'primaryenv'> & { readonly key?: KeySource },
  facts: SkillEnvironment,
): string | null {
  if (always) return null;
  const systems = os.map((name) => OS_NAMES[name.toLowerCase()] ?? name.toLowerCase());
  const lacking = [
    ...(systems.length === 0 || systems.includes(facts.os)
      ? []
      : [`runs on ${os.join(', ')} only`]),
    ...listMissingReasons('the program', requires.bins, (name) => facts.bins.has(name)),
    ...(requires.anybins.length === 0 || requires.anybins.some((name) => facts.bins.has(name))
      ? []
      : [`needs one of the programs ${requires.anybins.map(quoteSkillName).join(', ')}`]),
    ...listMissingReasons(
      'the environment variable',
      requires.env,
      (name) => isEnvVariableSet(facts.env, name) || (name === primaryenv && key !== null),
    ),
    ...listMissingReasons('the setting', requires.config, (path) =>
      isTruthySetting(getSettingAt(facts.settings, path)),
    ),
    ...listMissingReasons('the tool', requires.tools, (name) => facts.tools.has(name)),
  ];
  return lacking.length === 0 ? null : lacking.join('; ');
}

function listMissingReasons(
  what: string,
  wanted: readonly string[],
  has: (name: string) => boolean,
): string[] {
  const missing = wanted.filter((name) => !has(name));
  return missing.length === 0 ? [] : [`needs ${what} ${missing.map(quoteSkillName).join(', ')}`];
}

/** The text was written by the skill's author, so it is quoted. */
function quoteSkillName(name: string): string {
  return JSON.stringify(name);
}

function isEnvVariableSet(env: SkillEnvironment['env'], name: string): boolean {
  return Object.hasOwn(env, name) && env[name] !== undefined && env[name] !== '';
}

/** Reads the value at `a.b.c`, and ignores prototypes. */
function getSettingAt(settings: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((block, key) => {
    if (typeof block !== 'object' || block === null) return undefined;
    return Object.getOwnPropertyDescriptor(block, key)?.value;
  }, settings);
}

/** An empty list or text counts as `false`. */
function isTruthySetting(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : Boolean(value);
}

/** The maximum number of folders in a PATH that are searched. */
const MAX_FOLDERS = 100;

/**
 * Finds which of these programs can be started: plain names found on `path` (in the same format as
 * `PATH`). Never throws.
 */
export async function findPrograms(
  names: Iterable<string>,
  path: string | undefined,
): Promise<ReadonlySet<string>> {
  const folders = (path ?? '').split(delimiter).filter((folder) => folder !== '');
  const plain = [...new Set(names)].filter((name) => /^[\w.+-]+$/.test(name));
  const found = await Promise.all(
    plain.map(async (name) => {
      for (const folder of folders.slice(0, MAX_FOLDERS)) {
        if (await isProgram(join(folder, name))) return [name];
      }
      return [];
    }),
  );
  return new Set(found.flat());
}

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false; // The program does not exist or may not be started; it cannot be used in either case.
  }
}

/** The maximum command length that both Telegram and Discord accept. */
const MAX_COMMAND_LENGTH = 32;

/**
 * Converts a skill's name to a command name (`a`–`z`, `0`–`9`, `_`); null if none of its characters
 * can be used.
 */
export function toCommandName(skill: string): string | null {
  const plain = skill
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_');
  const command = plain.slice(0, MAX_COMMAND_LENGTH).replace(/^_+|_+$/g, '');
  return command === '' ? null : command;
}

/** A message that may be a skill's command. */
export interface TypedSkillCommand {
  readonly command: string;
  /** The rest of the line, trimmed. */
  readonly argument: string;
}

/** Parses `/plan-trip Rome` and `/plan_trip Rome` alike; null if the text is not a command. */
export function parseSkillCommand(text: string): TypedSkillCommand | null {
  const [, word, argument = ''] = /^\s*\/([a-z0-9_-]{1,64})(?:\s+(.*))?$/is.exec(text) ?? [];
  const command = word === undefined ? null : toCommandName(word);
  return command === null ? null : { command, argument: argument.trim() };
}
