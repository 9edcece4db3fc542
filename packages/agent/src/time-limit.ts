export class TimeUpError extends Error {
  constructor(ms: number) {
    super(`it took longer than ${ms / 1_000} s`);
    this.name = 'TimeUpError';
  }
}

export interface TimeLimit {
  readonly ms: number;
  readonly stop?: AbortSignal;
}

/**
 * Runs work under a time limit. Does not wait for work that ignores its signal. Throws TimeUpError, the
 * reason of `stop`, or what the work threw.
 */
export async function withTimeLimit<T>(
  { ms, stop }: TimeLimit,
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
    // In a function, so that a synchronous throw becomes a rejection.
    const done = (async () => work(ended.signal))();
    return await Promise.race([done, end.promise]);
  } finally {
    clearTimeout(timer);
    stop?.removeEventListener('abort', stopped);
  }
}
