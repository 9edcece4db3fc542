import type {
  ReplayChange,
  ReplayedAnswer,
  ReplayOutcome,
  ReplayReport,
} from '@parley/agent/replay-outcome';
import { formatCount, formatDuration } from '@parley/core';
import { compareTexts } from '@parley/prompt';
import { formatTable, splitRows, stripControls } from '../../terminal/text.ts';

/** Formats one turn side by side, several as a table with the worst first. */
export function formatReport(report: ReplayReport): string {
  const [first, ...more] = report.turns;
  if (first === undefined) return 'No turn was replayed.';
  if (more.length === 0) return stripControls(formatOutcome(first));
  const rows = report.turns.toSorted(compareSeverity).map(toRow);
  const table = formatTable([HEADS, ...rows], [3, 4, 5]);
  return stripControls([table, '', ...formatTotals(report)].join('\n'));
}

/** The worst outcomes come first, and within them the turns with the most differences. */
const SEVERITY: Readonly<Record<ReplayOutcome['kind'], number>> = {
  failed: 0,
  diverged: 1,
  changed: 2,
  incomplete: 3,
  same: 4,
};

function compareSeverity(one: ReplayOutcome, other: ReplayOutcome): number {
  return (
    SEVERITY[one.kind] - SEVERITY[other.kind] || listChanges(other).length - listChanges(one).length
  );
}

const listChanges = (outcome: ReplayOutcome): readonly ReplayChange[] =>
  'changes' in outcome ? outcome.changes : [];

const HEADS = ['turn', 'outcome', 'what', 'tokens', 'US$', 'seconds', 'question'];

function toRow(outcome: ReplayOutcome): string[] {
  const { turnId, kind, question } = outcome;
  const after = 'after' in outcome ? outcome.after : null;
  const before = 'before' in outcome ? outcome.before : null;
  return [
    turnId,
    kind,
    summarizeOutcome(outcome),
    formatDelta(countTokens(before), countTokens(after)),
    formatDelta(before?.usage?.costUsd, after?.usage?.costUsd),
    formatDelta(toSeconds(before), toSeconds(after)),
    shorten(question, 50),
  ];
}

function summarizeOutcome(outcome: ReplayOutcome): string {
  switch (outcome.kind) {
    case 'incomplete':
      return outcome.missing;
    case 'failed':
      return outcome.code;
    case 'diverged':
      return `called ${outcome.call.name}`;
    default: {
      const seen = outcome.changes.flatMap((change) => NAMES[change.kind] ?? []);
      return [...new Set(seen)].join(', ');
    }
  }
}

/** The differences that make a turn changed. */
const NAMES: Partial<Readonly<Record<ReplayChange['kind'], string>>> = {
  request: 'request',
  text: 'text',
  calls: 'calls',
  order: 'order of calls',
};

function formatDelta(before: number | null | undefined, after: number | null | undefined): string {
  if (before == null || after == null) return '-';
  const delta = after - before;
  const shown = Number.isInteger(delta) ? formatCount(delta) : delta.toFixed(4);
  return delta > 0 ? `+${shown}` : shown;
}

const countTokens = (answer: ReplayedAnswer | null): number | undefined =>
  answer?.usage == null ? undefined : answer.usage.inputTokens + answer.usage.outputTokens;

const toSeconds = (answer: ReplayedAnswer | null): number | undefined =>
  answer?.latencyMs == null ? undefined : Math.round(answer.latencyMs / 100) / 10;

function formatTotals({ turns, ...counts }: ReplayReport): string[] {
  const kinds = Object.entries(counts).filter(([, count]) => count > 0);
  const both = turns.flatMap((one) =>
    'before' in one && 'after' in one && one.after !== null
      ? [[one.before, one.after] as const]
      : [],
  );
  const sum = (of: (answer: ReplayedAnswer) => number | null | undefined, side: 0 | 1) =>
    both.reduce((total, pair) => total + (of(pair[side]) ?? 0), 0);
  const line = (name: string, of: (answer: ReplayedAnswer) => number | null | undefined) => {
    const [before, after] = [sum(of, 0), sum(of, 1)];
    return `${name.padEnd(9)}${round(before)} → ${round(after)} (${formatDelta(before, after)})`;
  };
  return [
    `${formatCount(turns.length)} turns: ${kinds.map(([kind, count]) => `${count} ${kind}`).join(', ')}`,
    ...(both.length === 0
      ? []
      : [
          line('tokens', countTokens),
          line('US$', ({ usage }) => usage?.costUsd),
          line('seconds', toSeconds),
        ]),
  ];
}

const round = (value: number): string => formatCount(Math.round(value * 10_000) / 10_000);

function formatOutcome(outcome: ReplayOutcome): string {
  const { turnId, conversationId, at, question, kind, resumed } = outcome;
  const head = [
    `${turnId} · ${new Date(at).toISOString()} · ${conversationId}`,
    `outcome   ${kind}${'call' in outcome ? `: called ${formatCall(outcome.call)}` : ''}`,
    `question  ${shorten(question, 300)}`,
    ...(resumed ? ['note      the turn was resumed; only its first prompt is recorded'] : []),
  ];
  if (outcome.kind === 'incomplete') return [...head, `missing   ${outcome.hint}`].join('\n');
  if (outcome.kind === 'failed')
    return [...head, `failed    ${outcome.reason} (${outcome.code})`].join('\n');
  const requests = outcome.changes.filter((change) => change.kind === 'request');
  const blocks = [...head, ...requests.flatMap(formatRequestChange)];
  if (outcome.after === null) return [...blocks, 'No model was asked (--dry-run).'].join('\n');
  return [...blocks, '', formatSides(outcome.before, outcome.after)].join('\n');
}

function formatRequestChange({ part, before, after }: Extract<ReplayChange, { kind: 'request' }>) {
  const lines = compareTexts(before ?? '', after ?? '').flatMap(({ kind, text }) =>
    kind === 'same'
      ? []
      : text.split('\n').map((line) => `  ${kind === 'added' ? '+' : '-'} ${line}`),
  );
  return ['', `request   ${part}`, ...lines];
}

/** The width of one side, in columns; two sides fit into 100. */
const SIDE = 48;

function formatSides(before: ReplayedAnswer, after: ReplayedAnswer): string {
  const sides = [describeSide('recorded', before), describeSide('replayed', after)].map((text) =>
    splitRows(stripControls(text), SIDE),
  );
  const [left = [], right = []] = sides;
  const rows = Array.from({ length: Math.max(left.length, right.length) }, (_, at) => {
    const [one = '', other = ''] = [left[at], right[at]];
    return [one.padEnd(SIDE), other];
  });
  return rows.map(([one, other]) => `${one} │ ${other}`.trimEnd()).join('\n');
}

function describeSide(
  name: string,
  { text, calls, usage, latencyMs, model }: ReplayedAnswer,
): string {
  const money = usage?.costUsd == null ? 'unknown' : `US$ ${usage.costUsd.toFixed(4)}`;
  const cached =
    usage === null ? 0 : (usage.cachedInputTokens ?? 0) / Math.max(1, usage.inputTokens);
  return [
    name.toUpperCase(),
    `model    ${model}`,
    ...(usage === null
      ? []
      : [
          `tokens   ${formatCount(usage.inputTokens)} in, ${formatCount(usage.outputTokens)} out`,
          `cached   ${Math.round(cached * 100)} %`,
          `cost     ${money}`,
        ]),
    `latency  ${latencyMs === null ? 'unknown' : formatDuration(latencyMs)}`,
    ...calls.map((call, nth) => `call ${nth + 1}   ${formatCall(call)}`),
    '',
    text,
  ].join('\n');
}

function formatCall({ name, arguments: written }: { name: string; arguments: string }): string {
  return `${name} ${shorten(written, 200)}`;
}

function shorten(text: string, most: number): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length <= most ? line : `${line.slice(0, most - 1).toWellFormed()}…`;
}
