import type { MakeInvariant } from './invariant.ts';

/** Never two running turns of a conversation (D02). */
export const oneRunningTurn: MakeInvariant = () => ({
  id: 'D02',
  afterStep: ({ changes }, { observer }) => {
    if (!changes.some(({ kind }) => kind === 'turn')) return [];
    const running = new Map<string, string[]>();
    for (const { id, conversation_id: conversation, state } of observer.tables.turns.values()) {
      if (state === 'running') running.set(conversation, [...(running.get(conversation) ?? []), id]);
    }
    return [...running]
      .filter(([, turns]) => turns.length > 1)
      .map(([conversation, turns]) => `${conversation} has several running turns: ${turns.join(', ')}`);
  },
});

/** The epoch of a conversation, which fences late writers, never falls (D02). */
export const risingEpoch: MakeInvariant = () => {
  const highest = new Map<string, number>();
  return {
    id: 'D02',
    afterStep: ({ changes }) =>
      changes.flatMap((change) => {
        if (change.kind !== 'lane') return [];
        const { conversation, epoch } = change;
        const before = highest.get(conversation) ?? 0;
        highest.set(conversation, Math.max(before, epoch));
        return epoch < before ? [`the epoch of ${conversation} fell from ${before} to ${epoch}`] : [];
      }),
  };
};
