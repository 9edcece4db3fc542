import { type Clock, type Logger, type NewId, reasonOf } from '@parley/contracts';
import type { Store, StoredSummary, SummaryTask } from '@parley/store';
import { SUMMARY_MS } from './write-summary.ts';

/** What claiming needs. */
export interface ClaimDeps {
  readonly store: Pick<Store, 'summaries'>;
  readonly newId: NewId;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Why there is no summary: somebody else is at it or it failed a short while ago, or it failed now. */
export type NotSummedUp =
  | { readonly kind: 'busy' }
  | { readonly kind: 'failed'; readonly reason: string };

/** Longer than a summary and what comes before it can take: then whoever claimed it is dead. In ms. */
const CLAIM_MS = SUMMARY_MS + 120_000;
const TRY_AGAIN_MS = 10 * 60_000;

/**
 * Writes a summary that nobody else writes meanwhile. A failure is logged and given back for later.
 */
export async function claimSummary(
  { store, newId, clock, log }: ClaimDeps,
  task: SummaryTask,
  impatient: boolean,
  work: (stop: AbortSignal) => Promise<StoredSummary>,
  stop: AbortSignal,
): Promise<StoredSummary | NotSummedUp> {
  const by = newId('summary');
  const now = clock();
  const claim = { by, now, until: now + CLAIM_MS, impatient };
  if (!(await store.summaries.claim(task, claim))) return { kind: 'busy' };
  const facts = { conversation: task.conversationId, of: task.kind };
  try {
    const summary = await work(stop);
    if (!(await store.summaries.finish(task, by, summary))) return { kind: 'busy' };
    log.info({ ...facts, ms: clock() - now }, 'a part of a conversation was summed up');
    return summary;
  } catch (error) {
    // Nobody is to blame when the process ends or a person stops it: the next may begin at once.
    const again = stop.aborted ? clock() : clock() + TRY_AGAIN_MS;
    await store.summaries.postpone(task, by, again);
    stop.throwIfAborted();
    const reason = reasonOf(error);
    log.warn({ ...facts, reason }, 'a conversation could not be summed up; it stays as it is');
    return { kind: 'failed', reason };
  }
}
