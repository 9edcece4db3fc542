const SOON_MS = 200;

/**
 * Lets a finished command end although code of plugins has left timers or connections behind. Where
 * nothing is left the process has ended by itself before.
 */
export function endSoon(): void {
  setTimeout(() => process.exit(), SOON_MS).unref();
}
