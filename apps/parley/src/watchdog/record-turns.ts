import { once } from 'node:events';
import type { WorkRecord } from '@parley/core';
import type { RunTurn } from '@parley/queue';

/**
 * Records each turn while it runs. Those that were running when a process stood still run one after another: where
 * it was not known which of them it was, the next hang then counts against that one alone.
 */
export function recordTurns(work: WorkRecord, run: RunTurn): RunTurn {
  let suspects: Promise<unknown> = Promise.resolve();
  return (turn, lease, signal) => {
    const recorded = () =>
      work.run({ kind: 'turn', key: turn.turnId }, () => run(turn, lease, signal));
    if (turn.hangs === undefined || turn.hangs === 0) return recorded();
    // A turn that is to end while it waits has nothing to end; the next run resumes it.
    const running = unlessAborted(suspects, signal).then((isMine) =>
      isMine ? recorded() : undefined,
    );
    suspects = Promise.allSettled([suspects, running]);
    return running;
  };
}

/** Whether the wait was over before the signal fired. */
async function unlessAborted(wait: Promise<unknown>, signal: AbortSignal): Promise<boolean> {
  if (!signal.aborted) await Promise.race([wait, once(signal, 'abort')]);
  return !signal.aborted;
}
