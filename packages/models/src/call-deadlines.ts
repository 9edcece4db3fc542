import type { ModelFailure } from './chat-model.ts';
import type { ModelTimeouts } from './model-settings.ts';

/** Aborts a call when a deadline has passed or the caller stops it. */
export interface CallDeadlines {
  /** A signal that is aborted when the call must end. */
  readonly signal: AbortSignal;
  /**
   * Called when any data arrives; restarts the current deadline. A server that loads a model or
   * queues a request sends comments and empty events meanwhile; only the total limit bounds that
   * time.
   */
  alive(): void;
  /**
   * Called when a fragment of the answer arrives; from then on the deadline between fragments
   * applies.
   */
  piece(): void;
  /** Why the call was aborted; null while it may continue. */
  ended(): ModelFailure | null;
  /** Stops the timers; the call itself is not affected. */
  close(): void;
}

/** Starts the timers of a call; the `caller` signal stops them. */
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
  // After the whole process was suspended, timers fire before the data that arrived meanwhile is
  // read.
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
