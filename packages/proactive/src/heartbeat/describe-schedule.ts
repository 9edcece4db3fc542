import { DAY_MINUTES } from '../clock/day-window.ts';
import type { StandingTask } from './standing-task.ts';

/** When a task runs, for people and for the model, such as `every 30 min, 09:00–21:00`. */
export function describeSchedule({
  cadence,
  window,
}: Pick<StandingTask, 'cadence' | 'window'>): string {
  const hours = `${clockOf(window.from)}–${clockOf(window.to)}`;
  const isWholeDay = window.from === 0 && window.to === DAY_MINUTES;
  return isWholeDay ? often(cadence) : `${often(cadence)}, ${hours}`;
}

function often(cadence: StandingTask['cadence']): string {
  if (cadence.kind === 'days')
    return cadence.days === 1 ? 'every day' : `every ${cadence.days} days`;
  const { minutes } = cadence;
  if (minutes % 60 !== 0) return `every ${minutes} min`;
  return minutes === 60 ? 'every hour' : `every ${minutes / 60} h`;
}

function clockOf(minutes: number): string {
  const [hour, minute] = [Math.floor(minutes / 60), minutes % 60];
  return `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`;
}
