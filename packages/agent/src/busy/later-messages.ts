import { type BusyPolicy, busyIn, type Clock, type LiveBus, type Logger } from '@parley/contracts';
import type { ClaimedTurn, Lease, Store } from '@parley/store';
import type { TimedAnswer, TurnJournal } from '../loop/turn-journal.ts';
import { leadingMessage } from '../turn-facts.ts';
import type { Interruption, openInterruption } from './interruption.ts';

/** What deciding about messages that arrive during a turn needs. */
export interface LaterMessagesDeps {
  readonly store: Pick<Store, 'lanes'>;
  /** `collect` when absent: they wait. */
  readonly busy?: BusyPolicy;
  readonly bus: LiveBus;
  readonly clock: Clock;
  readonly log: Logger;
}

/** What becomes of messages that arrive while one turn runs (D03). */
export interface LaterMessages {
  /** Fires like the one that was given, and when a later message ends the turn. */
  readonly signal: AbortSignal;
  /** From now on no later message ends the turn. */
  beforeActing(): Promise<void>;
  /** Gives the turn what waits and may join it; `answer` is what it was about to say. */
  join(answer?: TimedAnswer): ReturnType<TurnJournal['join']>;
  /** The turn is over. */
  end(): void;
}

/** Begins to look after them. `turn` as it was begun. */
export async function openLaterMessages(
  deps: LaterMessagesDeps,
  { turn, journal }: { readonly turn: ClaimedTurn; readonly journal: TurnJournal },
  lease: Lease,
  signal: AbortSignal,
): Promise<LaterMessages> {
  const { turnId, mode } = turn;
  const busy = busyIn(deps.busy ?? 'collect', leadingMessage(turn).message.chat.type);
  const interruption =
    busy === 'interrupt' ? await interruptionOf(deps, { turn, journal }, lease) : null;
  // What has acted must not be begun anew, so that nothing is done twice: then they join it.
  const joins = () => busy === 'steer' || interruption?.isOver() === true;
  return {
    signal: interruption === null ? signal : AbortSignal.any([signal, interruption.signal]),
    beforeActing: async () => interruption?.close(),
    async join(answer) {
      if (!joins()) return 'none';
      const { mayJoin } = await import('./may-join.ts');
      return journal.join(
        (steps) =>
          deps.store.lanes.join(
            lease,
            { turnId, mode, steps, mayJoin: (row) => mayJoin(turn, row) },
            deps.clock(),
          ),
        answer,
      );
    },
    end: () => interruption?.end(),
  };
}

/** Loaded where the settings want it. */
async function interruptionOf(
  ...given: Parameters<typeof openInterruption>
): Promise<Interruption> {
  const { openInterruption } = await import('./interruption.ts');
  return openInterruption(...given);
}
