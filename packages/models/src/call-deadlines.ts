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
  let started = false;
  let pause = setTimeout(end, timeouts.firstTokenMs, { kind: 'timeout', phase: 'first-token' });
  return {
    signal: controller.signal,
    alive: () => void pause.refresh(),
    piece() {
      if (started) {
        pause.refresh();
        return;
      }
      started = true;
      clearTimeout(pause);
      pause = setTimeout(end, timeouts.chunkMs, { kind: 'timeout', phase: 'stalled' });
    },
    ended: () => reason,
    close() {
      clearTimeout(total);
      clearTimeout(pause);
      caller.removeEventListener('abort', stop);
    },
  };
}
