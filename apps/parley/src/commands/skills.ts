import { type Reader, silentLogger } from '@parley/core';
import type { GatewayStatus, PluginLine } from '@parley/gateway/api';
import type { SkillStatus, Skills } from '@parley/workspace';
import { openInstalledSkills } from '../agent-sources.ts';
import type { Cli } from '../cli.ts';
import { commandLine, type DataFolder } from '../data-folder.ts';
import { openTools } from '../open-agent.ts';
import { plugInForCommand } from '../plug-in.ts';
import { askGateway, findGateway } from '../running-gateway.ts';
import { chosenAgent, readSettings } from '../settings.ts';
import { tableText, visible } from '../terminal/text.ts';

const OWNER: Reader = { kind: 'owner', conversationId: 'terminal' };

/** `parley skills [show NAME]` (S09), read from the disk: 1 one is refused, or there is none of that name. */
export async function skills(
  { folder, env, print, agent: asked }: Cli,
  name: string | undefined,
): Promise<number> {
  const first = readSettings(folder, env);
  const { loaded, agent, end } = await plugInForCommand(first, { folder, env });
  const { settings } = chosenAgent(loaded, asked);
  const known = openTools(settings.tools, {}, { added: agent.tools, log: silentLogger });
  const installed = openInstalledSkills(
    settings,
    { folder, env },
    {
      tools: () => [...known.for(OWNER).names, 'load_skill'],
      added: agent.skills,
      log: silentLogger,
    },
  );
  const all = await installed.list();
  if (name !== undefined) {
    return show(installed, all, { name, folder }, print).finally(end);
  }
  end();
  print(skillTable(all, settings.skills));
  return all.some(({ state }) => state === 'refused') ? 1 : 0;
}

async function show(
  skills: Skills,
  all: readonly SkillStatus[],
  { name, folder }: { readonly name: string; readonly folder: DataFolder },
  print: Cli['print'],
): Promise<number> {
  const named = all.filter((one) => one.name.toLowerCase() === name.toLowerCase());
  if (named.length === 0) {
    print(`There is no skill "${name}". "${commandLine('skills', folder)}" lists those there are.`);
    return 1;
  }
  for (const one of named) print(skillPage(one));
  const text = await skills.show(name);
  if (text === null) return named.some(({ state }) => state === 'refused') ? 1 : 0;
  print(text.kind === 'skill' ? visible(text.text) : `(${text.detail})`);
  return 0;
}

interface SkillLimits {
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

/** All skills as a table for a terminal, with a line of totals below. */
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

/** The details of one skill, for a terminal. */
export function skillPage(skill: SkillStatus): string {
  const { name, emoji, source, state, reason, command, install, primaryEnv, warnings } = skill;
  const lines = [
    `${name}${emoji === null ? '' : ` ${emoji}`}`,
    `source       ${source}, ${skill.location}`,
    `state        ${state}${reason === null ? '' : `: ${reason}`}`,
    `description  ${skill.description || 'none'}`,
    `audience     ${skill.audience.kind}`,
    `model        ${modelText(skill)}`,
    `command      ${command === null ? (skill.commandProblem ?? 'none') : `/${command}`}`,
    ...(primaryEnv === null ? [] : [`key          ${keyText(name, primaryEnv)}`]),
    ...install.map((step) => `to install   ${step}`),
    ...warnings.map((warning) => `guessed      ${warning}`),
  ];
  return `${lines.map(plain).join('\n')}\n`;
}

function keyText(skill: string, { name, from }: NonNullable<SkillStatus['primaryEnv']>): string {
  if (from === 'environment') return `${name}, set in the environment`;
  if (from === 'settings') return `${name}, from skills.entries.${skill}.apiKey`;
  return `${name}, not set: set the variable, or skills.entries.${skill}.apiKey`;
}

function modelText({ forModel, state, tokens, show }: SkillStatus): string {
  if (!forModel) return 'does not see it';
  if (show === 'inline') return `has its whole text, ${tokens} tokens`;
  return state === 'ready'
    ? `may use it by itself, ${tokens} tokens in the list`
    : 'would see it, if it were ready';
}

function remark({
  reason,
  commandProblem,
  warnings,
  audience,
  forModel,
  install,
  state,
  show,
  primaryEnv,
}: SkillStatus): string {
  const remarks = [
    reason,
    commandProblem,
    warnings.length === 0 ? null : `guessed: ${warnings.join('; ')}`,
    state !== 'refused' && audience.kind === 'owner' ? 'for the owner only' : null,
    state === 'ready' && !forModel ? 'not shown to the model' : null,
    show === 'inline' ? 'in the prompt in full' : null,
    primaryEnv === null
      ? null
      : `key: ${primaryEnv.name}${primaryEnv.from === null ? ' (not set)' : ''}`,
    state === 'not-eligible' && install.length > 0 ? `to install: ${install.join(', ')}` : null,
  ];
  return remarks.filter((remark) => remark !== null).join('; ');
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

/** `parley plugins`: those that the gateway has loaded, else they are loaded here; 0 when all work. */
export async function plugins(cli: Cli): Promise<number> {
  const { folder, env, print } = cli;
  const gateway = await findGateway(folder, env);
  const running = gateway && (await askGateway<GatewayStatus>(gateway, '/api/status/report'));
  const lines = running?.plugins ?? (await pluginsHere(cli));
  if (lines.length === 0) {
    print(`No plugins. Name folders or packages under "plugins" in ${folder.settingsFile}.`);
    return 0;
  }
  for (const { works, line } of lines) print(`${works ? '✓' : '✗'} ${line}`);
  if (running) {
    print(`\nAs loaded by the running Parley; "${commandLine('start', folder)}" loads them again.`);
  }
  return lines.every(({ works }) => works) ? 0 : 1;
}

async function pluginsHere(cli: Cli): Promise<readonly PluginLine[]> {
  const { report, end } = await plugInForCommand(readSettings(cli.folder, cli.env), cli);
  end();
  return report;
}
