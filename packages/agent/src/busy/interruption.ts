import { type Clock, type LiveBus, type Logger, reasonOf } from '@parley/contracts';
import type { StopReason } from '@parley/queue';
import type { ClaimedTurn, Lease, Store } from '@parley/store';
import type { TurnJournal } from '../loop/turn-journal.ts';

/** What ending a turn for a later message needs. */
export interface InterruptionDeps {
  readonly store: Pick<Store, 'lanes'>;
  readonly bus: LiveBus;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Watches for a later message that ends a running turn (D03). */
export interface Interruption {
  /** Fires once the turn was ended. */
  readonly signal: AbortSignal;
  /** Whether the turn goes on to its end whatever is written. */
  isOver(): boolean;
  /** The turn acts or answers now: it is either ended already or goes on to its end. */
  close(): Promise<void>;
  /** Stops watching. */
  end(): void;
}

/**
 * Begins to watch. What is decided is decided in the database; the live event only says when to look,
 * and where it gets lost the message waits as with `collect`. A turn that an earlier run has brought on
 * its way is not ended any more.
 */
export function openInterruption(
  { store, bus, clock, log }: InterruptionDeps,
  { turn, journal }: { readonly turn: ClaimedTurn; readonly journal: TurnJournal },
  lease: Lease,
): Interruption {
  const { turnId, conversationId } = turn;
  const ended = new AbortController();
  const interrupted: StopReason = 'interrupted';
  let isOver = journal.rounds().length > 0 || journal.answer !== null;
  let looking: Promise<void> | null = null;
  let wanted = false;
  let timer: NodeJS.Timeout | undefined;
  const lookOnce = async (): Promise<void> => {
    const found = await store.lanes.interrupt(lease, turnId, clock());
    if (found.kind === 'interrupted') ended.abort(interrupted);
    else if (found.kind === 'later' && !isOver) timer = setTimeout(look, found.retryInMs);
  };
  const lookWhileWanted = async (): Promise<void> => {
    while (wanted && !isOver && !ended.signal.aborted) {
      wanted = false;
      await lookOnce();
    }
  };
  const look = (): void => {
    clearTimeout(timer);
    wanted = true;
    looking ??= lookWhileWanted()
      .catch((error: unknown) =>
        log.warn(
          { turn: turnId, reason: reasonOf(error) },
          'a later message could not be looked for',
        ),
      )
      .finally(() => {
        looking = null;
      });
  };
  const unsubscribe = bus.subscribe((event) => {
    if (event.type === 'message-waiting' && event.conversationId === conversationId) look();
  });
  // What came between the claim and now was told to nobody.
  look();
  return {
    signal: ended.signal,
    isOver: () => isOver,
    async close() {
      isOver = true;
      clearTimeout(timer);
      await looking;
    },
    end() {
      isOver = true;
      clearTimeout(timer);
      unsubscribe();
    },
  };
}
