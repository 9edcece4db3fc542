import { type Logger, reasonOf } from '@parley/contracts';

/** Runs a task at most once per interval and never twice at a time; the last request is never lost. */
export interface Throttle {
  request(): void;
  cancel(): void;
}

/** Makes a throttle around `task`; a task that fails is logged and the next request tries again. */
export function createThrottle(
  intervalMs: number,
  log: Logger,
  task: () => Promise<void>,
): Throttle {
  let timer: NodeJS.Timeout | undefined;
  let state: 'idle' | 'cooling' | 'wanted' | 'cancelled' = 'idle';
  const run = (): void => {
    state = 'cooling';
    task()
      .catch((error: unknown) => log.debug({ reason: reasonOf(error) }, 'stream update failed'))
      .then(() => {
        if (state === 'cancelled') return;
        timer = setTimeout(cooled, intervalMs);
        timer.unref();
      });
  };
  const cooled = (): void => {
    if (state === 'wanted') run();
    else if (state === 'cooling') state = 'idle';
  };
  return {
    request() {
      if (state === 'idle') run();
      else if (state === 'cooling') state = 'wanted';
    },
    cancel() {
      state = 'cancelled';
      clearTimeout(timer);
    },
  };
}
