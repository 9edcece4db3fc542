import { type Reader, silentLogger } from '@parley/contracts';
import { CHANNEL_DEFINITIONS } from '@parley/gateway';
import type { SkillStatus, Skills } from '@parley/workspace';
import { openInstalledSkills } from '../agent-sources.ts';
import type { Cli } from '../cli.ts';
import { commandLine, type DataFolder } from '../data-folder.ts';
import { openTools } from '../open-agent.ts';
import { endSoon, plugIn } from '../plug-in.ts';
import { findGateway } from '../running-gateway.ts';
import { readSettings } from '../settings.ts';
import type { PluginLine } from '../status-report.ts';
import { tableText, visible } from '../terminal/text.ts';
import { askGateway } from './status.ts';

/** Whoever can read the data folder sees what its owner sees. */
const OWNER: Reader = { kind: 'owner', conversationId: 'terminal' };

/**
 * `parley skills [show NAME]`: each skill with its source, its state and why (S09). 0: fine, 1: one is
 * refused, or there is none of that name. It reads the disk, so it does not matter whether a gateway runs.
 */
export async function skills(
  { folder, env, print }: Cli,
  name: string | undefined,
): Promise<number> {
  const first = readSettings(folder, env);
  const deps = { folder, env, channels: CHANNEL_DEFINITIONS, log: silentLogger, clock: Date.now };
  const { loaded, agent } = await plugIn(first, deps);
  const { settings } = loaded;
  const known = openTools(settings.tools, {}, { added: agent.tools, log: silentLogger });
  const installed = openInstalledSkills(settings, deps, {
    tools: () => [...known.for(OWNER).names, 'load_skill'],
    added: agent.skills,
    log: silentLogger,
  });
  const all = await installed.list();
  const code =
    name === undefined
      ? table(all, settings.skills, print)
      : await show(installed, all, { name, folder }, print);
  endSoon();
  return code;
}

type Print = Cli['print'];

function table(all: readonly SkillStatus[], limits: SkillLimits, print: Print): number {
  print(skillTable(all, limits));
  return all.some(({ state }) => state === 'refused') ? 1 : 0;
}

async function show(
  skills: Skills,
  all: readonly SkillStatus[],
  { name, folder }: { readonly name: string; readonly folder: DataFolder },
  print: Print,
): Promise<number> {
  const named = all.filter((one) => one.name.toLowerCase() === name.toLowerCase());
  if (named.length === 0) {
    print(`There is no skill "${name}". "${commandLine('skills', folder)}" lists those there are.`);
    return 1;
  }
  for (const one of named) print(skillPage(one));
  const used = named.find(({ state }) => state === 'ready' || state === 'left-out');
  if (used === undefined) return named.some(({ state }) => state === 'refused') ? 1 : 0;
  const text = used.forModel
    ? await skills.read(used.name, OWNER)
    : await skills.called(used.command ?? '', OWNER);
  print(text.kind === 'skill' ? visible(text.text) : `(${text.detail})`);
  return 0;
}

/** Limits that the table explains. */
export interface SkillLimits {
  readonly max: number;
  readonly maxCharacters: number;
}

/** Skills that are in use first, then those that could be, then those that cannot. */
const STATES = [
  'ready',
  'left-out',
  'not-eligible',
  'not-allowed',
  'blocked',
  'shadowed',
  'refused',
] as const;

/** All skills as a table for a terminal, with one line below that sums them up. */
export function skillTable(all: readonly SkillStatus[], limits: SkillLimits): string {
  if (all.length === 0) return 'There are no skills. docs/skills.md says where they go.';
  const sorted = STATES.flatMap((state) => all.filter((one) => one.state === state));
  const rows = sorted.map((one) => [
    one.emoji === null ? one.name : `${one.name} ${one.emoji}`,
    one.source,
    one.state,
    one.command === null ? '-' : `/${one.command}`,
    one.tokens === 0 ? '-' : String(one.tokens),
    remark(one),
  ]);
  const head = ['SKILL', 'SOURCE', 'STATE', 'COMMAND', 'TOKENS', 'REMARK'];
  return `${tableText([head, ...rows])}\n\n${summary(all, limits)}`;
}

/** One skill in full, without its text. */
export function skillPage(skill: SkillStatus): string {
  const { name, emoji, source, state, reason, command, install } = skill;
  const lines = [
    `${name}${emoji === null ? '' : ` ${emoji}`}`,
    `source       ${source}, ${skill.location}`,
    `state        ${state}${reason === null ? '' : `: ${reason}`}`,
    `description  ${skill.description || 'none'}`,
    `audience     ${skill.audience.kind}`,
    `model        ${modelWords(skill)}`,
    `command      ${command === null ? (skill.commandProblem ?? 'none') : `/${command}`}`,
    ...install.map((step) => `to install   ${step}`),
  ];
  return `${lines.map(plain).join('\n')}\n`;
}

function modelWords({ forModel, state, tokens }: SkillStatus): string {
  if (!forModel) return 'is not told of it';
  return state === 'ready'
    ? `may use it by itself, ${tokens} tokens in the list`
    : 'would be told of it, if it were ready';
}

function remark({
  reason,
  commandProblem,
  audience,
  forModel,
  install,
  state,
}: SkillStatus): string {
  const words = [
    reason,
    commandProblem,
    state !== 'refused' && audience.kind === 'owner' ? 'for the owner only' : null,
    state === 'ready' && !forModel ? 'not shown to the model' : null,
    state === 'not-eligible' && install.length > 0 ? `to install: ${install.join(', ')}` : null,
  ];
  return words.filter((word) => word !== null).join('; ');
}

function summary(all: readonly SkillStatus[], { max, maxCharacters }: SkillLimits): string {
  const ready = all.filter(({ state }) => state === 'ready');
  const tokens = ready.reduce((total, one) => total + one.tokens, 0);
  return `${ready.length} of ${all.length} ready; the list costs about ${tokens} tokens a prompt (at most ${max} skills, ${maxCharacters} characters).`;
}

/** Names and reasons hold what strangers wrote into files: nothing of it may move the cursor. */
function plain(text: string): string {
  return visible(text).replaceAll('\n', ' ');
}

/**
 * `parley plugins`: what each plugin brings, or why it does not work; 0 when all work. Where a gateway
 * runs, what it has loaded; else they are loaded here, for a look.
 */
export async function plugins({ folder, env, print }: Cli): Promise<number> {
  const gateway = await findGateway(folder, env);
  const lines = gateway ? (await askGateway(gateway)).plugins : await lookAt(folder, env);
  if (lines.length === 0) {
    print(`No plugins. Name folders or packages under "plugins" in ${folder.settingsFile}.`);
    return 0;
  }
  for (const { works, line } of lines) print(`${works ? '✓' : '✗'} ${line}`);
  if (gateway) {
    print(`\nAs loaded by the running Parley; "${commandLine('start', folder)}" loads them anew.`);
  }
  return lines.every(({ works }) => works) ? 0 : 1;
}

async function lookAt(folder: DataFolder, env: NodeJS.ProcessEnv): Promise<readonly PluginLine[]> {
  const first = readSettings(folder, env);
  const { report } = await plugIn(first, {
    folder,
    env,
    channels: CHANNEL_DEFINITIONS,
    log: silentLogger,
    clock: Date.now,
  });
  endSoon();
  return report;
}
