import type { MakeInvariant } from './invariant.ts';

/** Never two running turns of a conversation (D02). */
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

/** The epoch of a conversation, which fences late writers, never falls (D02). */
export const risingEpoch: MakeInvariant = () => {
  const highest = new Map<string, number>();
  return {
    id: 'D02',
    afterStep: ({ changes }) =>
      changes.flatMap((change) => {
        // All holders of leases are dead then, so nobody writes under an epoch that is given again.
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

/** What only the worker that runs a turn can make of it. */
const ENDS: ReadonlySet<string> = new Set(['answered', 'silent', 'failed']);

/** A turn is ended by the process that took its lane last, however long another one believes that it has it (D02). */
export const endedByHolder: MakeInvariant = () => {
  const takers = new Map<string, { readonly epoch: number; readonly process: string }>();
  return {
    id: 'D02',
    afterStep: ({ changes, process }) => {
      // What the database has gone back to was taken by processes that are dead.
      if (changes[0]?.kind === 'rewound') {
        takers.clear();
        return [];
      }
      for (const change of changes) {
        if (change.kind !== 'lane') continue;
        const { conversation, epoch, holder } = change;
        const isTaken = holder !== null && epoch > (takers.get(conversation)?.epoch ?? 0);
        if (isTaken) takers.set(conversation, { epoch, process });
      }
      return changes.flatMap((change) => {
        if (change.kind !== 'turn' || !ENDS.has(change.to)) return [];
        const taker = takers.get(change.conversation)?.process;
        if (taker === undefined || taker === process) return [];
        return [`${process} ended a turn of ${change.conversation}, which ${taker} has taken`];
      });
    },
  };
};
