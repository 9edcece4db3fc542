import type { ModelFailure } from './model-error.ts';
import type { ModelTimeouts } from './model-settings.ts';

/** Ends one call when its time is up or its caller no longer wants it. */
export interface CallDeadlines {
  /** Aborted when the call must end. */
  readonly signal: AbortSignal;
  /** A piece of the answer came: the time between pieces starts again. */
  alive(): void;
  /** Why the call was ended; null while it may go on. */
  ended(): ModelFailure | null;
  /** Stops the clocks; the call itself is not touched. */
  close(): void;
}

/** Starts the clocks of one call. `caller` is the caller's own wish to stop. */
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
  let begun = false;
  let pause = setTimeout(end, timeouts.firstTokenMs, { kind: 'timeout', phase: 'first-token' });
  return {
    signal: controller.signal,
    alive() {
      if (begun) {
        pause.refresh();
        return;
      }
      begun = true;
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
