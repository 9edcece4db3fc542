import { once } from 'node:events';
import type { WorkRecord } from '@parley/core';
import type { RunTurn } from '@parley/queue';

/**
 * Records each turn while it runs. Turns that were running when a process hung are run one at a
 * time, so that the next hang counts only against the turn that caused it.
 */
export function addTurnRecording(work: WorkRecord, run: RunTurn): RunTurn {
  let suspects: Promise<unknown> = Promise.resolve();
  return (turn, lease, signal) => {
    const recorded = () =>
      work.run({ kind: 'turn', key: turn.turnId }, () => run(turn, lease, signal));
    if (turn.hangs === undefined || turn.hangs === 0) return recorded();
    // A turn that is aborted while it waits has not started, so the next run resumes it.
    const running = waitUnlessAborted(suspects, signal).then((isMine) =>
      isMine ? recorded() : undefined,
    );
    suspects = Promise.allSettled([suspects, running]);
    return running;
  };
}

/** Resolves to true if the wait ended before the signal was aborted. */
async function waitUnlessAborted(wait: Promise<unknown>, signal: AbortSignal): Promise<boolean> {
  if (!signal.aborted) await Promise.race([wait, once(signal, 'abort')]);
  return !signal.aborted;
}
