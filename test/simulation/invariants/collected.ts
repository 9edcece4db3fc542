import type { TableChange } from '../changes.ts';
import type { Simulation } from '../simulation.ts';
import type { MakeInvariant } from './invariant.ts';

type TurnChange = Extract<TableChange, { readonly kind: 'turn' }>;

function listStartedTurns(changes: readonly TableChange[]): readonly TurnChange[] {
  return changes.flatMap((change) =>
    change.kind === 'turn' && change.from === null && change.to === 'running' ? [change] : [],
  );
}

/**
 * A turn in a direct chat answers all messages that are waiting when it starts (D03). Transactions
 * requested together share a commit, so a message accepted in the same step may have arrived after
 * the turn.
 */
export const collectsAll: MakeInvariant = () => ({
  id: 'D03',
  afterStep: ({ changes }, { observer: { tables } }) => {
    const begun = listStartedTurns(changes);
    if (begun.length === 0) return [];
    const accepted = new Set(
      changes.flatMap((change) => (change.kind === 'accepted' ? [change.message] : [])),
    );
    const waiting = [...tables.messages.values()].filter(
      ({ state, seq }) => state === 'waiting' && !accepted.has(seq),
    );
    return begun.flatMap(({ conversation, turn }) =>
      waiting
        .filter((row) => row.conversation_id === conversation)
        .map(({ seq }) => `${turn} started without message ${seq}, which was waiting as well`),
    );
  },
});

/**
 * The required silence before the next turn starts, and the maximum time that a turn waits for it.
 * In ms.
 */
const [QUIET_MS, TIMEOUT_MS] = [500, 5_000];

/**
 * Messages written during a turn become the next turn after a pause (D03). The pause starts when a
 * gateway receives the last message, even if the gateway is paused before it stores the message. It
 * is measured by the processes' clocks, so a scene that changes clocks cannot check this promise.
 */
export const pausesToCollect: MakeInvariant = () => {
  const ended = new Map<string, number>();
  const epochs = new Map<string, number>();
  const lastEpoch = new Map<string, number>();
  return {
    id: 'D03',
    afterStep: ({ changes, at }, simulation) => {
      const wrong: string[] = [];
      for (const change of changes) {
        if (change.kind === 'lane') epochs.set(change.conversation, change.epoch);
        if (change.kind !== 'turn') continue;
        const { conversation, turn, from, to } = change;
        if (to === 'answered') {
          ended.set(conversation, at);
          lastEpoch.set(conversation, epochs.get(conversation) ?? 0);
        }
        // A lane taken for a turn starts the turn immediately.
        const isNext = lastEpoch.get(conversation) === epochs.get(conversation);
        if (from !== null || to !== 'running' || !isNext) continue;
        const quietMs = simulation.databaseTime(at) - getLastReceived(turn, simulation) + 1;
        const waitedMs = Math.ceil(at - (ended.get(conversation) ?? 0)) + 1;
        if (quietMs < QUIET_MS && waitedMs < TIMEOUT_MS)
          wrong.push(`${turn} of ${conversation} started ${quietMs} ms after the last message`);
      }
      return wrong;
    },
  };
};

/** When the newest message of a turn was received, in ms since 1970. */
function getLastReceived(turn: string, { observer }: Simulation): number {
  const [row] = observer.rows<{ readonly newest: number | null }>(
    'select max(received_at) as newest from inbox where turn_id = ?',
    turn,
  );
  return row?.newest ?? 0;
}
