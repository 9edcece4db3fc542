import { once } from 'node:events';
import type { WorkRecord } from '@parley/core';
import type { RunTurn } from '@parley/queue';

/**
 * Records each turn while it runs. Turns that were running when a process hung are run one at a
 * time: if it was unknown which of them caused the hang, the next hang then counts only against the
 * one that runs.
 */
export function recordTurns(work: WorkRecord, run: RunTurn): RunTurn {
  let suspects: Promise<unknown> = Promise.resolve();
  return (turn, lease, signal) => {
    const recorded = () =>
      work.run({ kind: 'turn', key: turn.turnId }, () => run(turn, lease, signal));
    if (turn.hangs === undefined || turn.hangs === 0) return recorded();
    // A turn that is aborted while it waits has not started; the next run resumes it.
    const running = waitUnlessAborted(suspects, signal).then((isMine) =>
      isMine ? recorded() : undefined,
    );
    suspects = Promise.allSettled([suspects, running]);
    return running;
  };
}

/** Resolves to whether the wait ended before the signal fired. */
async function waitUnlessAborted(wait: Promise<unknown>, signal: AbortSignal): Promise<boolean> {
  if (!signal.aborted) await Promise.race([wait, once(signal, 'abort')]);
  return !signal.aborted;
}
