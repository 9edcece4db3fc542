import type { LocalTime } from '../local-time.ts';

/** Longer than any day, in ms. */
const LONG_DAY = 26 * 60 * 60_000;

/**
 * The first moment (ms) of the local day that `now` lies in, whenever clocks are put forward or back.
 * Found by halving, as nothing but the zone knows where a day begins.
 */
export function startOfDay(localTime: LocalTime, now: number): number {
  const { date } = localTime(now);
  let [before, within] = [now - LONG_DAY, now];
  while (within - before > 1) {
    const middle = Math.floor((before + within) / 2);
    if (localTime(middle).date < date) before = middle;
    else within = middle;
  }
  return within;
}
