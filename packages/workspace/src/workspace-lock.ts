/** A writer's exclusive hold on the workspace. */
export interface LockHold {
  /** False once another writer may have acquired the lock, so that the write must be refused. */
  isMine(): boolean;
}

/**
 * Allows one writer at a time to change the files in a workspace, so that each change is based on
 * the current content. Reading does not need the lock, because files are replaced atomically.
 */
export interface WorkspaceLock {
  /**
   * The lock is not re-entrant. Rejects with the error from `work`, or with the reason why it was
   * not started.
   */
  hold<T>(work: (hold: LockHold) => Promise<T>): Promise<T>;
}

const ALWAYS_MINE: LockHold = { isMine: () => true };

/**
 * Creates a lock for a workspace used only by this process: one writer after another, in call
 * order.
 */
export function createLocalLock(): WorkspaceLock {
  let last: Promise<unknown> = Promise.resolve();
  return {
    hold(work) {
      const result = last.then(() => work(ALWAYS_MINE));
      // The caller receives the error; the next writer still starts.
      last = result.catch(() => undefined);
      return result;
    },
  };
}
