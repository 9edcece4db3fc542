/** The time in which one writer has the workspace to itself. */
export interface Hold {
  /** False once somebody else may have been let in; what would be written then must not be. */
  isMine(): boolean;
}

/**
 * Lets one writer at a time change the files of a workspace, so that each change begins with what stands
 * there. Reading needs none: files are replaced as a whole.
 */
export interface WorkspaceLock {
  /** Work that is held must not ask again. Rejects with what `work` threw, or why it was not begun. */
  hold<T>(work: (hold: Hold) => Promise<T>): Promise<T>;
}

const FOR_EVER: Hold = { isMine: () => true };

/** For a workspace of this process alone: one after another, in the order of asking. */
export function localLock(): WorkspaceLock {
  let last: Promise<unknown> = Promise.resolve();
  return {
    hold(work) {
      const result = last.then(() => work(FOR_EVER));
      // What went wrong is told to whoever asked; the next one begins all the same.
      last = result.catch(() => undefined);
      return result;
    },
  };
}
