import type { OutputOf } from '@parley/gateway/operations';
import type { CliContext } from '../cli.ts';
import { operateAndPrint } from '../operate.ts';
import { findChosenAgent, readSettings } from '../settings.ts';
import { formatTable, stripControlCharacters } from '../terminal/text.ts';

type ListedSkill = OutputOf<'skills/list'>['skills'][number];

/** `parley skills` (S09): lists the skills; the exit code is 1 if a skill was refused. */
export function listSkills(cli: CliContext): Promise<number> {
  const { settings } = findChosenAgent(readSettings(cli.folder, cli.env), cli.agent);
  return operateAndPrint(
    cli,
    'skills/list',
    {},
    ({ skills }) => formatSkillTable(skills, settings.skills),
    ({ skills }) => (skills.some(isSkillRefused) ? 1 : 0),
  );
}

/**
 * `parley skills show NAME`: shows a skill; the exit code is 1 if it was refused or does not exist.
 */
export function showSkill(cli: CliContext, name: string): Promise<number> {
  return operateAndPrint(
    cli,
    'skills/show',
    { name },
    ({ skills, text, reason }) =>
      [
        ...skills.map(formatSkillPage),
        text === null ? reason && `(${reason})` : stripControlCharacters(text),
      ]
        .filter((part) => part !== null)
        .join('\n'),
    ({ skills, text, reason }) =>
      text === null && reason === null && skills.some(isSkillRefused) ? 1 : 0,
  );
}

function isSkillRefused({ state }: ListedSkill): boolean {
  return state === 'refused';
}

interface SkillLimits {
  readonly max: number;
  readonly maxCharacters: number;
}

/** Orders skills: those in use, then usable ones, then unusable ones. */
const STATES = [
  'ready',
  'left-out',
  'not-eligible',
  'not-allowed',
  'blocked',
  'shadowed',
  'refused',
] as const;

/** Formats all skills as a table for the terminal, followed by a summary. */
export function formatSkillTable(all: readonly ListedSkill[], limits: SkillLimits): string {
  if (all.length === 0) return 'There are no skills. docs/skills.md explains where to put them.';
  const sorted = STATES.flatMap((state) => all.filter((one) => one.state === state));
  const rows = sorted.map((one) => [
    one.emoji === null ? one.name : `${one.name} ${one.emoji}`,
    one.source,
    one.state,
    one.command === null ? '-' : `/${one.command}`,
    one.tokens === 0 ? '-' : String(one.tokens),
    describeRemark(one),
  ]);
  const head = ['SKILL', 'SOURCE', 'STATE', 'COMMAND', 'TOKENS', 'REMARK'];
  return `${formatTable([head, ...rows])}\n\n${formatSummary(all, limits)}`;
}

/** Formats the details of one skill for the terminal. */
export function formatSkillPage(skill: ListedSkill): string {
  const { name, emoji, source, state, reason, command, install, primaryEnv, warnings } = skill;
  const lines = [
    `${name}${emoji === null ? '' : ` ${emoji}`}`,
    `source       ${source}, ${skill.location}`,
    `state        ${state}${reason === null ? '' : `: ${reason}`}`,
    `description  ${skill.description || 'none'}`,
    `audience     ${skill.readers}`,
    `model        ${describeModelVisibility(skill)}`,
    `command      ${command === null ? (skill.commandProblem ?? 'none') : `/${command}`}`,
    ...(primaryEnv === null ? [] : [`key          ${formatKey(name, primaryEnv)}`]),
    ...install.map((step) => `to install   ${step}`),
    ...warnings.map((warning) => `guessed      ${warning}`),
  ];
  return `${lines.map(toSingleLine).join('\n')}\n`;
}

function formatKey(skill: string, { name, from }: NonNullable<ListedSkill['primaryEnv']>): string {
  if (from === 'environment') return `${name}, set in the environment`;
  if (from === 'settings') return `${name}, from skills.entries.${skill}.apiKey`;
  return `${name}, not set: set the variable, or skills.entries.${skill}.apiKey`;
}

function describeModelVisibility({ forModel, state, tokens, show }: ListedSkill): string {
  if (!forModel) return 'does not see the skill';
  if (show === 'inline') return `sees the full text, ${tokens} tokens`;
  return state === 'ready'
    ? `may load the skill when needed, ${tokens} tokens in the list`
    : 'would see the skill if it were ready';
}

function describeRemark({
  reason,
  commandProblem,
  warnings,
  readers,
  forModel,
  install,
  state,
  show,
  primaryEnv,
}: ListedSkill): string {
  const remarks = [
    reason,
    commandProblem,
    warnings.length === 0 ? null : `guessed: ${warnings.join('; ')}`,
    state !== 'refused' && readers === 'owner' ? 'only for the owner' : null,
    state === 'ready' && !forModel ? 'not shown to the model' : null,
    show === 'inline' ? 'included in the prompt in full' : null,
    primaryEnv === null
      ? null
      : `key: ${primaryEnv.name}${primaryEnv.from === null ? ' (not set)' : ''}`,
    state === 'not-eligible' && install.length > 0 ? `to install: ${install.join(', ')}` : null,
  ];
  return remarks.filter((remark) => remark !== null).join('; ');
}

function formatSummary(all: readonly ListedSkill[], { max, maxCharacters }: SkillLimits): string {
  const ready = all.filter(({ state }) => state === 'ready');
  const tokens = ready.reduce((total, one) => total + one.tokens, 0);
  return `${ready.length} of ${all.length} ready; the list costs about ${tokens} tokens per prompt (at most ${max} skills, ${maxCharacters} characters).`;
}

/** Names and reasons contain text from untrusted files, so control characters are removed. */
function toSingleLine(text: string): string {
  return stripControlCharacters(text).replaceAll('\n', ' ');
}
