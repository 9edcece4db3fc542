import type { MakeInvariant } from './invariant.ts';

/** A conversation never has two running turns (D02). */
export const oneRunningTurn: MakeInvariant = () => ({
  id: 'D02',
  afterStep: ({ changes }, { observer }) => {
    if (!changes.some(({ kind }) => kind === 'turn')) return [];
    const running = new Map<string, string[]>();
    for (const { id, conversation_id: conversation, state } of observer.tables.turns.values()) {
      if (state === 'running')
        running.set(conversation, [...(running.get(conversation) ?? []), id]);
    }
    return [...running]
      .filter(([, turns]) => turns.length > 1)
      .map(
        ([conversation, turns]) => `${conversation} has several running turns: ${turns.join(', ')}`,
      );
  },
});

/** The epoch of a conversation, which fences late writers, never decreases (D02). */
export const risingEpoch: MakeInvariant = () => {
  const highest = new Map<string, number>();
  return {
    id: 'D02',
    afterStep: ({ changes }) =>
      changes.flatMap((change) => {
        // All lease holders are dead at this point, so no process writes under a reused epoch.
        if (change.kind === 'rewound') highest.clear();
        if (change.kind !== 'lane') return [];
        const { conversation, epoch } = change;
        const before = highest.get(conversation) ?? 0;
        highest.set(conversation, Math.max(before, epoch));
        return epoch < before
          ? [`the epoch of ${conversation} fell from ${before} to ${epoch}`]
          : [];
      }),
  };
};

/** Outcomes that only the worker running the turn can record. */
const ENDS: ReadonlySet<string> = new Set(['answered', 'silent', 'failed']);

/**
 * A turn is ended by the process that took its lane last, even while another process still believes
 * it holds the lane (D02). Raising the epoch means taking the lane, even when it is released in the
 * same step.
 */
export const endedByHolder: MakeInvariant = () => {
  const takers = new Map<string, LaneTaker>();
  return {
    id: 'D02',
    afterStep: ({ changes, process }) => {
      // The lanes recorded in the restored database belong to processes that are dead.
      if (changes[0]?.kind === 'rewound') {
        takers.clear();
        return [];
      }
      for (const change of changes) {
        if (change.kind !== 'lane') continue;
        const { conversation, epoch, holder } = change;
        const before = takers.get(conversation);
        const isOther = holder !== null && holder !== before?.holder;
        if (isOther || epoch > (before?.epoch ?? 0)) {
          takers.set(conversation, { epoch, holder, process });
        }
      }
      return changes.flatMap((change) => {
        // A lane without earlier runs was taken for a person's message, under the lane's lock.
        if (change.kind !== 'turn' || change.from === null || !ENDS.has(change.to)) return [];
        const taker = takers.get(change.conversation)?.process;
        if (taker === undefined || taker === process) return [];
        return [`${process} ended a turn of ${change.conversation}, which ${taker} has taken`];
      });
    },
  };
};

interface LaneTaker {
  readonly epoch: number;
  readonly holder: string | null;
  readonly process: string;
}

/** The messages of a starting turn do not wait for another turn (D02). */
export const claimedByItsTurn: MakeInvariant = () => ({
  id: 'D02',
  afterStep: ({ changes }, { observer: { tables } }) => {
    const begun = changes.flatMap((change) =>
      change.kind === 'turn' && change.from === null && change.to === 'running'
        ? [change.turn]
        : [],
    );
    if (begun.length === 0) return [];
    return [...tables.messages.values()]
      .filter(({ turn_id: turn, state }) => state === 'waiting' && begun.includes(turn ?? ''))
      .map(({ seq, turn_id: turn }) => `message ${seq} waits although ${turn} answers it`);
  },
});

/**
 * A lane is not released together with an answer while a message waits in it without a pending
 * wake-up (D01).
 */
export const leftEmpty: MakeInvariant = () => ({
  id: 'D01',
  afterStep: ({ changes }, { observer: { tables } }) => {
    // A database rollback does not release the lane.
    if (changes.some(({ kind }) => kind === 'rewound')) return [];
    const left = changes.flatMap((change) =>
      change.kind === 'lane' && change.holder === null ? [change.conversation] : [],
    );
    const answered = changes.flatMap((change) =>
      change.kind === 'turn' &&
      change.from !== null &&
      change.to === 'answered' &&
      left.includes(change.conversation)
        ? [change.conversation]
        : [],
    );
    if (answered.length === 0) return [];
    // A slow database commits several transactions in one step: the process that stores a message
    // behind the answer wakes the lane.
    const stored = new Set(
      changes.flatMap((change) => (change.kind === 'accepted' ? [change.message] : [])),
    );
    return [...tables.messages.values()]
      .filter((row) => row.state === 'waiting' && answered.includes(row.conversation_id))
      .filter(({ seq }) => !stored.has(seq))
      .map(
        ({ seq, conversation_id: lane }) =>
          `${lane} was released while message ${seq} was waiting in it`,
      );
  },
});

/**
 * Once faults have ended, all work finishes: no message, turn or part stays in progress forever
 * (D13).
 */
export const everythingEnds: MakeInvariant = () => ({
  id: 'D13',
  atEnd: ({ observer }) => {
    const { messages, parts } = observer.tables;
    // A turn that awaits a person or was postponed may keep waiting.
    const turns = observer.rows<{ readonly id: string }>(
      "select id from turn where state = 'running' and awaits is null and put_off_until is null",
    );
    const waiting = [...observer.tables.turns.values()].some(({ state }) => state === 'running');
    return [
      ...turns.map(({ id }) => `turn ${id} never ended`),
      ...[...messages.values()]
        .filter(({ state }) => state !== 'done' && !waiting)
        .map(({ seq, state }) => `message ${seq} stays ${state} forever`),
      ...[...parts.values()]
        .filter(({ state }) => state === 'pending' || state === 'sending')
        .map(({ id, state }) => `part ${id} stays ${state} forever`),
    ];
  },
});
