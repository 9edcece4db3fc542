import type { MakeInvariant } from './invariant.ts';

/**
 * A turn ends within its time limit, measured from its start or its last resumption (D13). In ms.
 */
export function createTurnTimeInvariant(longestMs: number): MakeInvariant {
  return () => {
    const running = new Map<string, { readonly since: number; readonly attempts: number }>();
    return {
      id: 'D13',
      afterStep: ({ at, changes }) => {
        for (const change of changes) {
          if (change.kind !== 'turn') continue;
          const { turn, to, attempts } = change;
          if (to !== 'running') running.delete(turn);
          else if (running.get(turn)?.attempts !== attempts)
            running.set(turn, { since: at, attempts });
        }
        return [...running].flatMap(([turn, { since }]) => {
          if (at - since <= longestMs) return [];
          running.delete(turn);
          return [`${turn} is still running after ${Math.round((at - since) / 1_000)} s`];
        });
      },
    };
  };
}
