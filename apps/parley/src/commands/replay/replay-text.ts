import type {
  ReplayChange,
  ReplayedAnswer,
  ReplayOutcome,
  ReplayReport,
} from '@parley/agent/replay-outcome';
import {
  type AnswerFigure,
  compareSeverity,
  countTokens,
  sumBothSides,
} from '@parley/agent/replay-summary';
import { formatCount, formatDuration } from '@parley/core';
import { compareTexts } from '@parley/prompt';
import { formatTable, splitRows, stripControlCharacters } from '../../terminal/text.ts';

/** Formats one turn side by side, several as a table with the worst first. */
export function formatReport(report: ReplayReport): string {
  const [first, ...more] = report.turns;
  if (first === undefined) return 'No turn was replayed.';
  if (more.length === 0) return stripControlCharacters(formatOutcome(first));
  const rows = report.turns.toSorted(compareSeverity).map(toRow);
  const table = formatTable([HEADS, ...rows], [3, 4, 5]);
  return stripControlCharacters([table, '', ...formatTotals(report)].join('\n'));
}

const HEADS = ['turn', 'outcome', 'what', 'tokens', 'US$', 'seconds', 'question'];

function toRow(outcome: ReplayOutcome): string[] {
  const { turnId, kind, question } = outcome;
  const after = 'after' in outcome ? outcome.after : null;
  const before = 'before' in outcome ? outcome.before : null;
  return [
    turnId,
    kind,
    summarizeOutcome(outcome),
    formatDelta(before && countTokens(before), after && countTokens(after)),
    formatDelta(before?.usage?.costUsd, after?.usage?.costUsd),
    formatDelta(before && toSeconds(before), after && toSeconds(after)),
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

const toSeconds: AnswerFigure = ({ latencyMs }) =>
  latencyMs === null ? null : Math.round(latencyMs / 100) / 10;

function formatTotals({ turns, ...counts }: ReplayReport): string[] {
  const kinds = Object.entries(counts).filter(([, count]) => count > 0);
  const line = (name: string, figureOf: AnswerFigure): string[] => {
    const { before, after, turns: known } = sumBothSides(turns, figureOf);
    if (known === 0) return [];
    return [`${name.padEnd(9)}${round(before)} → ${round(after)} (${formatDelta(before, after)})`];
  };
  return [
    `${formatCount(turns.length)} turns: ${kinds.map(([kind, count]) => `${count} ${kind}`).join(', ')}`,
    ...line('tokens', countTokens),
    ...line('US$', ({ usage }) => usage?.costUsd),
    ...line('seconds', toSeconds),
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
    splitRows(stripControlCharacters(text), SIDE),
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
