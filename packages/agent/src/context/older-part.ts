import type { NumberedEntry } from '@parley/store';
import { estimateTokens } from '@parley/workspace';
import { wordsOf } from './assemble-history.ts';
import { tokensRead } from './write-summary.ts';

/** How a history is divided. */
export interface Division {
  /** Turns that stay word for word, where they are short enough. */
  readonly keepTurns: number;
  /** What these may cost, in tokens. */
  readonly keepTokens: number;
  /** What is summed up at once at most, in tokens. */
  readonly mostTokens: number;
  /** Less is not worth a call. */
  readonly leastTokens: number;
}

/**
 * The oldest entries, which are to be summed up; ends with the end of a turn. Empty when there is too
 * little. The newest turn always stays.
 */
export function olderPart(
  entries: readonly NumberedEntry[],
  { keepTurns, keepTokens, mostTokens, leastTokens }: Division,
): readonly NumberedEntry[] {
  const begins = entries.flatMap(({ role }, index) =>
    role === 'user' && entries[index - 1]?.role !== 'user' ? [index] : [],
  );
  const costs = entries.map((entry) => estimateTokens(wordsOf(entry)));
  const read = entries.map(tokensRead);
  const cost = (from: number, to?: number): number => sum(costs.slice(from, to));
  const last = begins.at(-1) ?? 0;
  const keptFrom =
    begins.slice(-keepTurns).find((begin) => cost(begin) <= keepTokens || begin === last) ?? 0;
  const ends = begins.filter((begin) => begin > 0 && begin <= keptFrom);
  const end = ends.findLast((begin) => sum(read.slice(0, begin)) <= mostTokens) ?? ends[0] ?? 0;
  return cost(0, end) < leastTokens ? [] : entries.slice(0, end);
}

function sum(tokens: readonly number[]): number {
  return tokens.reduce((total, one) => total + one, 0);
}
