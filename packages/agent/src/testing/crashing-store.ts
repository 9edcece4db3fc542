import type { Store } from '@parley/store';

/** A process crash at the nth write to the store, before the write is stored or right after it. */
export interface StoreCrash {
  readonly write: number;
  readonly when: 'before' | 'after';
}

export interface CrashableStore {
  readonly written: readonly string[];
  /** Starts a run that ends at the given crash; with null it never crashes. */
  live(death: StoreCrash | null): void;
}

export function createCrashableStore(store: Store): CrashableStore {
  let death: StoreCrash | null = null;
  const written: string[] = [];
  const mortal =
    <Args extends unknown[], Result>(name: string, write: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      const nth = written.push(name);
      const dies = death !== null && nth >= death.write;
      if (dies && (nth > (death?.write ?? 0) || death?.when === 'before'))
        throw new Error('killed');
      const result = await write(...args);
      if (dies) throw new Error('killed');
      return result;
    };
  const { approvals, turns, lanes, outbox } = store;
  Object.assign(store, {
    approvals: {
      ...approvals,
      ask: mortal('ask', approvals.ask),
      allow: mortal('allow', approvals.allow),
    },
    turns: { ...turns, appendStep: mortal('step', turns.appendStep) },
    lanes: { ...lanes, commit: mortal('commit', lanes.commit) },
    outbox: { ...outbox, post: mortal('post', outbox.post) },
  });
  return {
    written,
    live(next) {
      death = next;
      written.length = 0;
    },
  };
}
