import { type AnswerFigure, countTokens, sumBothSides } from '@parley/agent/replay-summary';
import { formatAmount, formatDuration, formatPercent } from '../ui/format.ts';
import { formatMoney } from '../usage/figures.ts';
import type { ReplayedAnswer, ReplayOutcome } from './outcome-words.ts';

/** A figure of the recorded and of the new answer, as text; empty if a side is missing. */
export interface FigureRow {
  readonly name: string;
  readonly before: string;
  readonly after: string;
  readonly difference: string;
}

interface Figure {
  readonly name: string;
  readonly of: AnswerFigure;
  readonly format: (value: number) => string;
}

const FIGURES: readonly Figure[] = [
  { name: 'Tokens in', of: ({ usage }) => usage?.inputTokens, format: formatAmount },
  { name: 'Tokens out', of: ({ usage }) => usage?.outputTokens, format: formatAmount },
  { name: 'Cached', of: getCachedShare, format: formatPercent },
  { name: 'Money', of: ({ usage }) => usage?.costUsd, format: formatMoney },
  { name: 'Latency', of: ({ latencyMs }) => latencyMs, format: formatDuration },
];

/** The share of the input tokens that came from the provider's cache. */
function getCachedShare({ usage }: ReplayedAnswer): number | null {
  if (usage === null || usage.inputTokens === 0) return null;
  return (usage.cachedInputTokens ?? 0) / usage.inputTokens;
}

/** Compares the figures of two answers; without a second one, lists those of the first. */
export function listFigures(
  before: ReplayedAnswer,
  after: ReplayedAnswer | null,
): readonly FigureRow[] {
  return FIGURES.map((figure) => {
    const values = [figure.of(before), after === null ? undefined : figure.of(after)] as const;
    return toRow(figure, ...values, after !== null);
  });
}

const TOTALS: readonly Figure[] = [
  { name: 'Tokens', of: countTokens, format: formatAmount },
  { name: 'Money', of: ({ usage }) => usage?.costUsd, format: formatMoney },
  { name: 'Latency', of: ({ latencyMs }) => latencyMs, format: formatDuration },
];

/** The sums over all turns in which a figure is known for both answers. */
export function listTotals(turns: readonly ReplayOutcome[]): readonly FigureRow[] {
  return TOTALS.map((figure) => {
    const { before, after, turns: known } = sumBothSides(turns, figure.of);
    return known === 0 ? toRow(figure, null, null, true) : toRow(figure, before, after, true);
  });
}

function toRow(
  { name, format }: Figure,
  before: number | null | undefined,
  after: number | null | undefined,
  hasAfter: boolean,
): FigureRow {
  const show = (value: number | null | undefined) => (value == null ? 'unknown' : format(value));
  const isKnown = before != null && after != null;
  return {
    name,
    before: show(before),
    after: hasAfter ? show(after) : '',
    difference: isKnown ? formatDifference(after - before, format) : '',
  };
}

/** `+12`, `−3` or `0`, in the unit of `format`. */
function formatDifference(difference: number, format: (value: number) => string): string {
  if (difference === 0) return '0';
  return `${difference > 0 ? '+' : '−'}${format(Math.abs(difference))}`;
}
