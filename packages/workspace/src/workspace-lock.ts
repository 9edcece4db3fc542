/** The time in which one writer has the workspace to itself. */
export interface Hold {
  /** False once another writer may have got the lock; the write must then be refused. */
  isMine(): boolean;
}

/**
 * Lets one writer at a time change the files of a workspace, so that each change is based on the current
 * content. Reading needs no lock: files are replaced as a whole.
 */
export interface WorkspaceLock {
  /** Not re-entrant. Rejects with what `work` threw, or why it was not started. */
  hold<T>(work: (hold: Hold) => Promise<T>): Promise<T>;
}

const ALWAYS_MINE: Hold = { isMine: () => true };

/** For a workspace of this process alone: one writer after another, in the order of the calls. */
export function localLock(): WorkspaceLock {
  let last: Promise<unknown> = Promise.resolve();
  return {
    hold(work) {
      const result = last.then(() => work(ALWAYS_MINE));
      // The caller gets the error; the next writer starts all the same.
      last = result.catch(() => undefined);
      return result;
    },
  };
}
