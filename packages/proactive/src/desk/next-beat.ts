import { type DayWindow, windowAfter, windowAt } from '../clock/day-window.ts';
import type { Looking } from '../heartbeat/next-run.ts';

/** The rhythm of an agent’s beats, in ms. */
export interface Rhythm {
  /** The next beat; it may lie in the past while Parley does not run. */
  readonly nextAt: number;
  readonly everyMs: number;
}

/** More days than any rhythm needs to come round to the same time of day: 24 h in steps of a minute. */
const TRIES = 1_500;

/**
 * The first beat from `from` on that lies in these hours; null if none ever does, as hours that are
 * shorter than the time between two beats may lie between them every day.
 */
export function nextBeat(
  from: number,
  window: DayWindow,
  { nextAt, everyMs }: Rhythm,
  { clock, now }: Looking,
): number | null {
  const first = Math.max(nextAt, now);
  let beat = from <= first ? first : nextAt + Math.ceil((from - nextAt) / everyMs) * everyMs;
  for (let tries = 0; tries < TRIES; tries += 1) {
    if (windowAt(clock, window, beat) !== null) return beat;
    const { start } = windowAfter(clock, window, beat);
    beat = nextAt + Math.ceil((start - nextAt) / everyMs) * everyMs;
  }
  return null;
}
