import type { ZoneClock } from '../clock/zone-clock.ts';

const DAY_MS = 24 * 60 * 60_000;
const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'] as const;
const MONTHS = [
  ...['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun'],
  ...['Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'],
];

/** A moment (ms) as people say it: `14:30`, `tomorrow 03:00`, `Mon 23 Nov 03:00`, by the clock on that wall. */
export function momentWords(moment: number, clock: ZoneClock, now: number): string {
  const wall = clock.wallAt(moment);
  const time = new Date(wall).toISOString().slice(11, 16);
  const days = Math.floor(wall / DAY_MS) - Math.floor(clock.wallAt(now) / DAY_MS);
  if (days === 0) return time;
  if (days === 1) return `tomorrow ${time}`;
  if (days === -1) return `yesterday ${time}`;
  const date = new Date(wall);
  const day = `${DAYS[date.getUTCDay()]} ${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]}`;
  const isOtherYear = date.getUTCFullYear() !== new Date(clock.wallAt(now)).getUTCFullYear();
  return `${day}${isOtherYear ? ` ${date.getUTCFullYear()}` : ''} ${time}`;
}

/** `1 task`, `3 tasks`. */
export function counted(count: number, one: string): string {
  return `${count} ${one}${count === 1 ? '' : 's'}`;
}
