import type { Simulation } from '../simulation.ts';
import type { MakeInvariant } from './invariant.ts';

/** The retention of table rows, in days: the lowest possible setting. */
export const KEPT_DAYS = 3;
const DAY_MS = 24 * 3_600_000;
/**
 * A changed clock may make a row due for removal earlier, but never earlier than this
 * (docs/retention.md).
 */
const MIN_MS = (KEPT_DAYS / 2) * DAY_MS;
/** The age in days at which old rows have been removed. */
const MAX_MS = (KEPT_DAYS + 5) * DAY_MS;

/** Retention removes old rows, but none that are recent or still needed (D15). */
export const keepsYoung: MakeInvariant = () => {
  const since = new Map<string, number>();
  let removed = 0;
  let last = 0;
  return {
    id: 'D15',
    afterStep: ({ at, changes }) =>
      changes.flatMap((change) => {
        if (change.kind !== 'message' && change.kind !== 'part') {
          if (change.kind === 'accepted') since.set(`message ${change.message}`, at);
          return [];
        }
        const what =
          change.kind === 'message' ? `message ${change.message}` : `part ${change.part}`;
        if (change.from === null) since.set(what, at);
        if (change.to !== 'removed') return [];
        removed += 1;
        last = at;
        const age = at - (since.get(what) ?? 0);
        const isNeeded = change.from !== 'done' && change.from !== 'sent';
        return [
          ...(age < MIN_MS ? [`${what} was removed after ${(age / DAY_MS).toFixed(1)} days`] : []),
          ...(isNeeded ? [`${what} was removed while it was ${change.from}`] : []),
        ];
      }),
    atEnd: ({ time, questions }) => {
      const isOld = questions.some(({ at }) => time.now - at > MAX_MS);
      return isOld && removed === 0 ? [`nothing old was removed, ${last}`] : [];
    },
  };
};

/** Invalid settings change nothing (D12). */
export const keepsSettings: MakeInvariant = () => ({
  id: 'D12',
  onRequest: ({ body }) => {
    const [, model = ''] = /"model":"([^"]+)"/.exec(body) ?? [];
    return model.startsWith('seed') ? [] : [`the model "${model}" of invalid settings was asked`];
  },
});

/** The time limit for the exit of a process that shuts down gracefully (D11), in ms. */
const STOP_MS = 12_000;

/** The last start of a turn. */
interface TurnStart {
  readonly at: number;
  readonly process: string;
  readonly attempts: number;
}

/** A turn that its process has abandoned. */
interface AbandonedTurn {
  readonly turn: string;
  readonly at: number;
}

/**
 * Changed settings do not end running turns (D12): a process that abandons one of its turns must be
 * exiting.
 */
export const reloadsEndNoTurn: MakeInvariant = () => {
  const began = new Map<string, TurnStart>();
  const epochs = new Map<string, number>();
  const left = new Map<string, AbandonedTurn>();
  return {
    id: 'D12',
    afterStep: ({ at, process, changes }, simulation) =>
      changes.flatMap((change) => {
        if (change.kind === 'turn' && change.attempts > (began.get(change.turn)?.attempts ?? 0)) {
          began.set(change.turn, { at, process, attempts: change.attempts });
        }
        if (change.kind !== 'lane') return [];
        const { conversation, holder, epoch } = change;
        const isTaken = holder !== null && epoch > (epochs.get(conversation) ?? 0);
        epochs.set(conversation, epoch);
        if (holder === null) {
          const turn = findRunningTurn(conversation, simulation);
          const begun = began.get(turn ?? '');
          // A startup ends the leases of dead processes, and a process that was paused in the
          // middle of a turn has lost its lane anyway.
          const isOwn = begun?.process === process && begun.at > simulation.pausedUntil(process);
          if (turn !== undefined && isOwn) left.set(process, { turn, at });
          return [];
        }
        const before = left.get(process);
        if (!isTaken || before === undefined || at - before.at < STOP_MS) return [];
        left.delete(process);
        return [`${process} abandoned ${before.turn} while it ran, and kept working`];
      }),
  };
};

/** The running turn of a conversation that waits neither for a person nor for the model. */
function findRunningTurn(conversation: string, { observer }: Simulation): string | undefined {
  const [turn] = observer.rows<{ readonly id: string }>(
    `select id from turn where conversation_id = ? and state = 'running' and awaits is null
       and put_off_until is null`,
    conversation,
  );
  return turn?.id;
}
