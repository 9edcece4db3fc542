const FIRST_MS = 500;
/** A database that was away for a minute must not leave chats alone for another one. In ms. */
const LONGEST_MS = 5_000;

/**
 * How long to wait, in ms, after work on a key has failed for the `attempt`th time in a row (from 1).
 * `random` in [0, 1) spreads what failed together, between half of the pause and all of it.
 */
export function retryPause(attempt: number, random: number): number {
  const pause = Math.min(LONGEST_MS, FIRST_MS * 2 ** (attempt - 1));
  return Math.round(pause * (0.5 + random / 2));
}
