import { type DayWindow, windowAt } from '../clock/day-window.ts';
import type { ZoneClock } from '../clock/zone-clock.ts';
import { readWindow } from '../heartbeat/read-times.ts';

/** The hours in which no alert is told (H04), as the settings write them; null: `off`, or none at all. */
export function readQuietHours(written: string): DayWindow | null {
  return written.trim().toLowerCase() === 'off' ? null : readWindow(written);
}

/** Until when (ms) an alert waits; null where it may go at once. */
export function quietUntil(
  hours: DayWindow | null,
  { clock, now }: { readonly clock: ZoneClock; readonly now: number },
): number | null {
  return hours === null ? null : (windowAt(clock, hours, now)?.end ?? null);
}
