import type { SkillHeader } from './skill-header.ts';

/** What the machine and the settings offer a skill. */
export interface SkillFacts {
  /** As Node names it: `linux`, `darwin`, `win32`. */
  readonly os: string;
  /** Programs that were found, of those that the skills ask for. */
  readonly bins: ReadonlySet<string>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The settings, for `requires.config: agent.workspace`. */
  readonly settings: unknown;
  /** The names of the agent's tools. */
  readonly tools: ReadonlySet<string>;
}

const OS_NAMES: Readonly<Record<string, string>> = {
  macos: 'darwin',
  mac: 'darwin',
  windows: 'win32',
};

/** Why a skill cannot be used here (S03), or null: then it can. `always` asks for nothing. */
export function whyNotEligible(
  { always, os, requires }: Pick<SkillHeader, 'always' | 'os' | 'requires'>,
  facts: SkillFacts,
): string | null {
  if (always) return null;
  const systems = os.map((name) => OS_NAMES[name.toLowerCase()] ?? name.toLowerCase());
  const lacking = [
    ...(systems.length === 0 || systems.includes(facts.os)
      ? []
      : [`runs on ${os.join(', ')} only`]),
    ...lacks('the program', requires.bins, (name) => facts.bins.has(name)),
    ...(requires.anybins.length === 0 || requires.anybins.some((name) => facts.bins.has(name))
      ? []
      : [`needs one of the programs ${requires.anybins.map(quoted).join(', ')}`]),
    ...lacks('the environment variable', requires.env, (name) => isSet(facts.env, name)),
    ...lacks('the setting', requires.config, (path) => isTrue(settingAt(facts.settings, path))),
    ...lacks('the tool', requires.tools, (name) => facts.tools.has(name)),
  ];
  return lacking.length === 0 ? null : lacking.join('; ');
}

function lacks(what: string, wanted: readonly string[], has: (name: string) => boolean): string[] {
  const missing = wanted.filter((name) => !has(name));
  return missing.length === 0 ? [] : [`needs ${what} ${missing.map(quoted).join(', ')}`];
}

/** Written by the author of the skill, so shown as what it is. */
function quoted(name: string): string {
  return JSON.stringify(name);
}

function isSet(env: SkillFacts['env'], name: string): boolean {
  return Object.hasOwn(env, name) && env[name] !== undefined && env[name] !== '';
}

/** The value at `a.b.c`; nothing is taken from prototypes. */
function settingAt(settings: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((block, key) => {
    if (typeof block !== 'object' || block === null) return undefined;
    return Object.getOwnPropertyDescriptor(block, key)?.value;
  }, settings);
}

/** An empty list or text says as little as `false`. */
function isTrue(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : Boolean(value);
}
