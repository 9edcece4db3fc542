import { type Logger, reasonOf } from '@parley/contracts';

/** Runs a task at most once per interval and never twice at a time; the last request is never lost. */
export interface Throttle {
  request(): void;
  /** Runs nothing more; resolves once a run that is under way has ended. */
  cancel(): Promise<void>;
}

/**
 * Makes a throttle around `task`; a task that fails is logged and the next request tries again.
 * @param firstAfterMs how long the very first run waits after its request.
 */
export function createThrottle(
  { intervalMs, firstAfterMs }: { readonly intervalMs: number; readonly firstAfterMs: number },
  log: Logger,
  task: () => Promise<void>,
): Throttle {
  let timer: NodeJS.Timeout | undefined;
  let state: 'idle' | 'busy' | 'wanted' = 'idle';
  let isFirst = true;
  let cancelled = false;
  let underWay = Promise.resolve();
  const run = async (): Promise<void> => {
    state = 'busy';
    try {
      await task();
    } catch (error) {
      log.debug({ reason: reasonOf(error) }, 'stream update failed');
    }
    // The interval counts from the end: a slow platform is asked less often.
    if (!cancelled) timer = setTimeout(cooled, intervalMs).unref();
  };
  const begin = (): void => {
    underWay = run();
  };
  const beginFirst = (): void => {
    isFirst = false;
    if (firstAfterMs === 0) begin();
    else {
      state = 'wanted';
      timer = setTimeout(begin, firstAfterMs).unref();
    }
  };
  const cooled = (): void => {
    if (state === 'wanted') begin();
    else if (state === 'busy') state = 'idle';
  };
  return {
    request() {
      if (cancelled) return;
      if (state === 'busy') state = 'wanted';
      else if (state === 'idle' && isFirst) beginFirst();
      else if (state === 'idle') begin();
    },
    cancel() {
      cancelled = true;
      clearTimeout(timer);
      return underWay;
    },
  };
}
