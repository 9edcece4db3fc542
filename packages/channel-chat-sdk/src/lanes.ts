/**
 * Runs the tasks of one lane one after another, in the order in which they were added, and lanes at
 * the same time.
 */
export type RunInLane = <T>(lane: string, task: () => Promise<T>) => Promise<T>;

/**
 * Creates lanes, which are removed once they are empty. A failed task does not block later ones.
 */
export function createLanes(): RunInLane {
  const last = new Map<string, Promise<unknown>>();
  return (lane, task) => {
    const running = (last.get(lane) ?? Promise.resolve()).then(task);
    const over: Promise<unknown> = running
      .catch(() => undefined)
      .finally(() => {
        if (last.get(lane) === over) last.delete(lane);
      });
    last.set(lane, over);
    return running;
  };
}
