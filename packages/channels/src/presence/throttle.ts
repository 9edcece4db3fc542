import { type Logger, reasonOf } from '@parley/contracts';

/** Runs a task at most once per interval and never twice at a time; the last request is never lost. */
export interface Throttle {
  request(): void;
  /** Runs nothing more; resolves once a run that is under way has ended. */
  cancel(): Promise<void>;
}

/** Makes a throttle around `task`; a task that fails is logged and the next request tries again. */
export function createThrottle(
  intervalMs: number,
  log: Logger,
  task: () => Promise<void>,
): Throttle {
  let timer: NodeJS.Timeout | undefined;
  let state: 'idle' | 'busy' | 'wanted' = 'idle';
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
  const cooled = (): void => {
    if (state === 'wanted') begin();
    else if (state === 'busy') state = 'idle';
  };
  return {
    request() {
      if (cancelled) return;
      if (state === 'idle') begin();
      else if (state === 'busy') state = 'wanted';
    },
    cancel() {
      cancelled = true;
      clearTimeout(timer);
      return underWay;
    },
  };
}
