/**
 * Waits for `work` until the signal is aborted, and then rejects with the reason or with
 * `createError`. Not all work can be canceled, so `work` itself may continue.
 */
export async function rejectOnAbort<T>(
  work: Promise<T>,
  signal: AbortSignal,
  createError: () => unknown = () => signal.reason,
): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const stop = (): void => reject(createError());
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/**
 * Runs the tasks of one lane sequentially, in the order they were added, and lanes concurrently.
 */
type RunInLane = <T>(lane: string, task: () => Promise<T>) => Promise<T>;

/** Creates lanes that are removed once they are empty. A failed task does not block later ones. */
export function createLanes(): RunInLane {
  const last = new Map<string, Promise<unknown>>();
  return (lane, task) => {
    const before = last.get(lane) ?? Promise.resolve();
    const running = before.then(task);
    const over = running
      .catch(() => undefined)
      .finally(() => {
        if (last.get(lane) === over) last.delete(lane);
      });
    last.set(lane, over);
    return running;
  };
}
