import { zoneClock } from '../clock/zone-clock.ts';
import { readCadence, readTime } from '../heartbeat/read-times.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const DAY_NAMES: Readonly<Record<string, number>> = { today: 0, tomorrow: 1 };

/** What `readMoment` understands, for messages. */
export const READ_MOMENT_FORM =
  'a date and time such as 2026-11-22 09:00, a time such as 18:30, tomorrow 9:00, or in 20 min';

/**
 * The moment (ms) that is meant by a time on the wall of a zone; null where it is none. A bare time is
 * the next one of that kind; one that the clock skips is the moment at which it goes on.
 */
export function readMoment(written: string, timeZone: string, now: number): number | null {
  const text = written.trim();
  return (
    fromNow(text, now) ??
    withOffset(text) ??
    dateAndTime(text, timeZone) ??
    bareTime(text, timeZone, now)
  );
}

function fromNow(text: string, now: number): number | null {
  const length = /^in\s+(.+)$/i.exec(text)?.[1];
  if (length === undefined) return null;
  const seconds = /^(\d{1,4})\s*s(?:ec(?:ond)?s?)?$/i.exec(length)?.[1];
  if (seconds !== undefined) return now + Number(seconds) * 1000;
  const cadence = readCadence(length)?.cadence;
  if (cadence === undefined) return null;
  return now + (cadence.kind === 'minutes' ? cadence.minutes * MINUTE_MS : cadence.days * DAY_MS);
}

/** `2026-11-22T09:00:00Z` and the like say themselves where they count. */
function withOffset(text: string): number | null {
  if (!/^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)$/i.test(text))
    return null;
  return numberOrNull(Date.parse(text.replace(' ', 'T')));
}

function dateAndTime(text: string, timeZone: string): number | null {
  const found = /^(\d{4}-\d\d-\d\d)[T ]+(\d\d?:\d\d)(:\d\d)?(?:\.\d+)?$/i.exec(text);
  if (found === null) return null;
  const [, date = '', time = '', seconds = ':00'] = found;
  const iso = `${date}T${time.padStart(5, '0')}${seconds}`;
  const wall = numberOrNull(Date.parse(`${iso}Z`));
  // The 30th of February is no day, although JavaScript makes one of it.
  if (wall === null || !new Date(wall).toISOString().startsWith(iso)) return null;
  return zoneClock(timeZone).firstMomentOf(wall);
}

function bareTime(text: string, timeZone: string, now: number): number | null {
  const found = /^(?:(today|tomorrow)\s*(?:at\s+|,\s*)?)?(.+)$/i.exec(text);
  const minutes = readTime(found?.[2] ?? '');
  if (minutes === null) return null;
  const clock = zoneClock(timeZone);
  const midnight = Math.floor(clock.wallAt(now) / DAY_MS) * DAY_MS;
  const on = (days: number) => clock.firstMomentOf(midnight + days * DAY_MS + minutes * MINUTE_MS);
  const named = found?.[1];
  if (named !== undefined) return on(DAY_NAMES[named.toLowerCase()] ?? 0);
  return on(0) > now ? on(0) : on(1);
}

function numberOrNull(value: number): number | null {
  return Number.isNaN(value) ? null : value;
}
