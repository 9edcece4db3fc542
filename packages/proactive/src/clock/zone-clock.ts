const DAY_MS = 24 * 60 * 60_000;

/**
 * The clock on the wall in one time zone. A *wall time* is what that clock shows, written in ms as if
 * it were UTC, so that days are 24 h long and can be counted with; a *moment* is ms since 1970.
 */
export interface ZoneClock {
  /** What the clock shows at a moment, to the second. */
  wallAt(moment: number): number;
  /** The moments at which it shows this: one, two in a doubled hour, none in a skipped one. Ascending. */
  momentsOf(wall: number): readonly number[];
  /** The first moment at which it shows this or, if it skips it, at which it goes on behind it. */
  firstMomentOf(wall: number): number;
}

/**
 * A clock for an IANA time zone; only what Node.js knows of zones is used. Made once: making a
 * formatter costs a hundred times using it.
 * @throws RangeError if nobody knows the zone.
 */
export function zoneClock(timeZone: string): ZoneClock {
  // Swedish dates are written as ISO 8601 writes them.
  const face = new Intl.DateTimeFormat('sv-SE', {
    timeZone,
    dateStyle: 'short',
    timeStyle: 'medium',
  });
  const wallAt = (moment: number) => {
    const second = Math.floor(moment / 1000) * 1000;
    return Date.parse(`${face.format(second).replace(' ', 'T')}Z`) + (moment - second);
  };
  const offsetAt = (moment: number) => wallAt(moment) - moment;
  const momentsOf = (wall: number) => {
    // Clocks are put forward or back by less than a day, so one of these offsets holds.
    const offsets = [offsetAt(wall - DAY_MS), offsetAt(wall + DAY_MS)];
    const found = new Set(offsets.map((offset) => wall - offset));
    return [...found].filter((moment) => wallAt(moment) === wall).sort((a, b) => a - b);
  };
  return {
    wallAt,
    momentsOf,
    firstMomentOf: (wall) => momentsOf(wall)[0] ?? endOfGap(wallAt, wall),
  };
}

/** The moment at which a clock that skips this wall time is put forward. */
function endOfGap(wallAt: ZoneClock['wallAt'], wall: number): number {
  // Before the gap the clock shows less than `wall`, from its end on more.
  let before = wall - DAY_MS * 2;
  let after = wall + DAY_MS * 2;
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (wallAt(middle) < wall) before = middle;
    else after = middle;
  }
  return after;
}
