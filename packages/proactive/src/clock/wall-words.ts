import { zoneClock } from './zone-clock.ts';

const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

/** Such as `2026-11-21 14:05`, as the wall shows it there. Throws RangeError for an unknown zone. */
export function wallMinute(moment: number, timeZone: string): string {
  const wall = new Date(zoneClock(timeZone).wallAt(moment));
  return wall.toISOString().slice(0, 16).replace('T', ' ');
}

/** The same with the day of the week, which models are bad at: `Saturday 2026-11-21 14:05`. */
export function wallDayAndMinute(moment: number, timeZone: string): string {
  const day = new Date(zoneClock(timeZone).wallAt(moment)).getUTCDay();
  return `${WEEKDAYS[day]} ${wallMinute(moment, timeZone)}`;
}
