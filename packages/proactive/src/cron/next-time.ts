import type { Timetable } from '@parley/contracts';
import type { CronExpression } from 'cron-parser';
import { type ZoneClock, zoneClock } from '../clock/zone-clock.ts';
import { type ReadCron, readCronExpression } from './cron-expression.ts';

const HOUR_MS = 60 * 60_000;
/** More wall time than any clock is put back by. */
const BACK_MS = 3 * HOUR_MS;

/**
 * When a job is due next, after that moment (ms); null: never again, or its expression is no good.
 * A time that the clock skips is made up for when it goes on; in a doubled hour a job of certain hours
 * runs in the first one, and a job of every hour in both.
 * @throws RangeError if nobody knows the time zone.
 */
export function nextTime(timetable: Timetable, after: number): number | null {
  switch (timetable.kind) {
    case 'once':
      return timetable.at > after ? timetable.at : null;
    case 'every': {
      const { from, ms } = timetable;
      return from > after ? from : from + (Math.floor((after - from) / ms) + 1) * ms;
    }
    case 'cron': {
      const cron = readCronExpression(timetable.expression);
      if (cron.kind === 'problem') return null;
      return nextOf(cron, zoneClock(timetable.timeZone), after);
    }
  }
}

function nextOf(
  cron: Extract<ReadCron, { kind: 'cron' }>,
  clock: ZoneClock,
  after: number,
): number | null {
  const walls = cron.after(clock.wallAt(after) - BACK_MS);
  const everyHour = cron.hours === 24;
  let best: number | null = null;
  for (let wall = nextWall(walls); wall !== null; wall = nextWall(walls)) {
    const moments = clock.momentsOf(wall);
    const first = moments[0] ?? clock.firstMomentOf(wall);
    if (best !== null && first >= best) return best;
    // A job of every hour runs again soon; no need to make up for what was skipped.
    const wanted = everyHour ? moments : [first];
    const next = wanted.find((moment) => moment > after);
    if (next !== undefined) best = Math.min(best ?? next, next);
  }
  return best;
}

/** The next wall time of the expression; null when it has none, such as the 31st of April. */
function nextWall(walls: CronExpression): number | null {
  try {
    return walls.next().getTime();
  } catch {
    return null; // The library says "never" by throwing, after it has looked for long.
  }
}
