import type { ProtectedPaths } from './protect-paths.ts';

/** Runs work while the paths are protected. */
export type WhileProtected = <T>(work: (paths: readonly string[]) => Promise<T>) => Promise<T>;

/**
 * Protects for the first of several commands at a time and releases after the last: a file taken away
 * under a mount takes the mount with it, and another command could then make it anew.
 */
export function shareProtection(protect: () => Promise<ProtectedPaths>): WhileProtected {
  let users = 0;
  let held: Promise<ProtectedPaths> | null = null;
  let before: Promise<unknown> = Promise.resolve();
  return async (work) => {
    users += 1;
    held ??= before.then(protect);
    const mine = held;
    try {
      return await work((await mine).paths);
    } finally {
      users -= 1;
      if (users === 0) {
        held = null;
        // One that failed to protect has released already, and its error has been thrown above.
        before = mine.then(({ release }) => release()).catch(() => {});
        await before;
      }
    }
  };
}
