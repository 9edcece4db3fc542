import type { Reader } from '@parley/contracts';
import { ModelError } from '@parley/models';
import type { PinPlace, Store } from '@parley/store';
import type { Compactor } from './compactor.ts';
import { type HistoryLimits, summaryBudget } from './history-budget.ts';
import { type ReadHistory, readHistory } from './read-history.ts';

/** What making a history shorter needs. */
export interface TooLongDeps {
  readonly store: Pick<Store, 'summaries' | 'transcript'>;
  readonly history: HistoryLimits;
  readonly contextTokens?: (() => number) | undefined;
  readonly compactor?: Compactor | undefined;
}

/** What the second try is made from. */
export interface ShorterHistory extends ReadHistory {
  readonly history: HistoryLimits;
  readonly contextTokens: number | undefined;
}

/**
 * Asks, and when the provider says that it was too long, sums up the older part and asks once more, with
 * half the room: what was known of the model was wrong. Throws what the second try throws.
 */
export async function whenTooLong<T>(
  deps: TooLongDeps,
  whose: PinPlace & { readonly reader: Reader },
  stop: AbortSignal,
  ask: (shorter: ShorterHistory | undefined) => Promise<T>,
): Promise<T> {
  try {
    return await ask(undefined);
  } catch (error) {
    const isTooLong = error instanceof ModelError && error.failure.kind === 'too-long';
    if (!isTooLong || deps.compactor === undefined) throw error;
    // Whether it succeeds or not: the second try leaves out what does not fit.
    await deps.compactor.now({ ...whose, forced: true }, stop);
    const { entries, tokens } = deps.history;
    const known = deps.contextTokens?.();
    return ask({
      ...(await readHistory(deps.store, whose, whose.reader, entries)),
      // The prompt may take all of half the room; what was summed up must not vanish for that.
      history: { entries, tokens: Math.floor(tokens / 2), ...leastOf(known) },
      contextTokens: known === undefined ? undefined : Math.floor(known / 2),
    });
  }
}

function leastOf(known: number | undefined): Pick<HistoryLimits, 'least'> {
  return known === undefined ? {} : { least: summaryBudget(known / 2) };
}
