export class TimeUpError extends Error {
  constructor(ms: number) {
    super(`it took longer than ${ms / 1_000} s`);
    this.name = 'TimeUpError';
  }
}

export interface TimeLimitOptions {
  readonly ms: number;
  readonly stop?: AbortSignal;
}

/**
 * Runs work with a time limit. Does not wait for work that ignores its signal. Throws TimeUpError,
 * the abort reason of `stop`, or the error thrown by the work.
 */
export async function runWithTimeLimit<T>(
  { ms, stop }: TimeLimitOptions,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const ended = new AbortController();
  const end = Promise.withResolvers<never>();
  const finish = (reason: unknown): void => {
    ended.abort(reason);
    end.reject(reason);
  };
  const stopped = (): void => finish(stop?.reason);
  const timer = setTimeout(() => finish(new TimeUpError(ms)), ms);
  if (stop?.aborted === true) stopped();
  else stop?.addEventListener('abort', stopped, { once: true });
  try {
    // The wrapper is async, so that a synchronous throw becomes a rejection.
    const done = (async () => work(ended.signal))();
    return await Promise.race([done, end.promise]);
  } finally {
    clearTimeout(timer);
    stop?.removeEventListener('abort', stopped);
  }
}

/**
 * Formats a moment (ms) as the agent's local date and time, for example `2026-11-21` and `14:05`.
 */
export type LocalTime = (now: number) => { readonly date: string; readonly time: string };

/**
 * Creates the clock for one IANA time zone. Creating a formatter costs a hundred times as much as
 * using it, so keep the result.
 */
export function createLocalTime(timeZone: string): LocalTime {
  // The Swedish locale uses the date format of ISO 8601.
  const face = new Intl.DateTimeFormat('sv-SE', {
    timeZone,
    dateStyle: 'short',
    timeStyle: 'short',
  });
  // Caches the last second, because a turn reads the time several times within one.
  let last = { second: Number.NaN, shown: { date: '', time: '' } };
  return (now) => {
    const second = Math.floor(now / 1_000);
    if (second !== last.second) {
      const [date = '', time = ''] = face.format(now).split(' ');
      last = { second, shown: { date, time } };
    }
    return last.shown;
  };
}
