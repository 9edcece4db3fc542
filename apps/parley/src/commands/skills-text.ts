import type { SkillStatus } from '@parley/workspace';
import { columnsOf, visible } from '../terminal/visible-text.ts';

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
    plain(one.emoji === null ? one.name : `${one.name} ${one.emoji}`),
    one.source,
    one.state,
    one.command === null ? '-' : `/${one.command}`,
    one.tokens === 0 ? '-' : String(one.tokens),
    plain(remark(one)),
  ]);
  const head = ['SKILL', 'SOURCE', 'STATE', 'COMMAND', 'TOKENS', 'REMARK'];
  return `${columns([head, ...rows])}\n\n${summary(all, limits)}`;
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

/** Each column as wide as its widest cell; the last one is as long as it is. */
function columns(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, at) =>
    Math.max(...rows.map((row) => columnsOf(row[at] ?? ''))),
  );
  return rows
    .map((row) =>
      row
        .map((cell, at) => cell + ' '.repeat((widths[at] ?? 0) - columnsOf(cell)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Names and reasons hold what strangers wrote into files: nothing of it may move the cursor. */
function plain(text: string): string {
  return visible(text).replaceAll('\n', ' ');
}
