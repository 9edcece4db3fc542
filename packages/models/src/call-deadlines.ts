import type { ModelFailure } from './chat-model.ts';
import type { ModelTimeouts } from './model-settings.ts';

/** Ends one call when its time is up or its caller stops it. */
export interface CallDeadlines {
  /** Aborted when the call must end. */
  readonly signal: AbortSignal;
  /**
   * Anything arrived: the deadline that runs starts again. A server that loads a model or waits in a queue sends
   * comments and empty events meanwhile; the total limit bounds that.
   */
  alive(): void;
  /** A piece of the answer arrived: from now on the time between pieces counts. */
  piece(): void;
  /** Why the call was ended; null while it may go on. */
  ended(): ModelFailure | null;
  /** Stops the clocks; the call itself is not touched. */
  close(): void;
}

/** Starts the clocks of one call, which `caller` stops. */
export function startDeadlines(timeouts: ModelTimeouts, caller: AbortSignal): CallDeadlines {
  const controller = new AbortController();
  let reason: ModelFailure | null = null;
  const end = (failure: ModelFailure) => {
    if (controller.signal.aborted) return;
    reason = failure;
    controller.abort();
  };
  const stop = () => end({ kind: 'aborted' });
  if (caller.aborted) stop();
  caller.addEventListener('abort', stop, { once: true });

  const total = setTimeout(end, timeouts.totalMs, { kind: 'timeout', phase: 'total' });
  let arrivals = 0;
  // Where the whole process stood still, timers come first, and what has arrived meanwhile is not read yet.
  const endUnlessArrived = (failure: ModelFailure): void => {
    const before = arrivals;
    setImmediate(() => {
      if (arrivals === before) end(failure);
    });
  };
  const silence = (ms: number, phase: 'first-token' | 'stalled'): NodeJS.Timeout =>
    setTimeout(endUnlessArrived, ms, { kind: 'timeout', phase });
  let started = false;
  let pause = silence(timeouts.firstTokenMs, 'first-token');
  const alive = (): void => {
    arrivals += 1;
    pause.refresh();
  };
  return {
    signal: controller.signal,
    alive,
    piece() {
      alive();
      if (started) return;
      started = true;
      clearTimeout(pause);
      pause = silence(timeouts.chunkMs, 'stalled');
    },
    ended: () => reason,
    close() {
      arrivals += 1;
      clearTimeout(total);
      clearTimeout(pause);
      caller.removeEventListener('abort', stop);
    },
  };
}
