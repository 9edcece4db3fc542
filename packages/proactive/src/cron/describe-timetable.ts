import type { Timetable } from '@parley/contracts';
import { wallDayAndMinute } from '../clock/wall-words.ts';

const UNITS = [
  [24 * 60 * 60_000, 'day'],
  [60 * 60_000, 'hour'],
  [60_000, 'minute'],
  [1000, 'second'],
] as const;

/** A timetable for people and models; times of one-off jobs on the clock of `timeZone`. */
export function describeTimetable(timetable: Timetable, timeZone: string): string {
  switch (timetable.kind) {
    case 'once':
      return `once, ${wallDayAndMinute(timetable.at, timeZone)}`;
    case 'every':
      return `every ${lengthWords(timetable.ms)}`;
    case 'cron':
      return `cron ${timetable.expression} (${timetable.timeZone})`;
  }
}

/** `90 minutes`, `2 hours`, `1 day`: in the largest unit that fits without a rest. In ms. */
export function lengthWords(ms: number): string {
  const [unit, name] = UNITS.find(([length]) => ms >= length && ms % length === 0) ?? [
    1000,
    'second',
  ];
  const count = Math.round(ms / unit);
  return `${count} ${name}${count === 1 ? '' : 's'}`;
}
