import type { ZoneClock } from '../zone-clock.ts';

/**
 * The outcome of a task's last run. `nothing-new`: the check found no change, so the model was not
 * called. `noted`: only heartbeat-state.json records the run.
 */
export interface LastRun {
  readonly state:
    | 'never'
    | 'noted'
    | 'nothing-new'
    | 'waiting'
    | 'running'
    | 'quiet'
    | 'alerted'
    | 'held'
    | 'repeated'
    | 'unclear'
    | 'failed';
  /** When the task ran, in ms; null if it never did. */
  readonly at: number | null;
  readonly text: string;
}

/** When a task runs next, and why it does not run now. `at` is in ms; null if unknown. */
export interface NextRunText {
  readonly state:
    | 'off'
    | 'running'
    | 'no-tokens'
    | 'no-chat'
    | 'due'
    | 'not-yet'
    | 'out-of-hours'
    | 'done'
    | 'no-run';
  readonly at: number | null;
  readonly text: string;
}

export interface TaskReport {
  readonly name: string;
  /** The schedule, such as `every 30 min, 09:00–21:00`. */
  readonly schedule: string;
  readonly instruction: string;
  /** The group that receives the task's alerts; null if the owner receives them. */
  readonly tell: string | null;
  readonly last: LastRun;
  readonly next: NextRunText;
}

interface RunReport {
  readonly id: string;
  readonly task: string;
  readonly state: LastRun['state'];
  readonly at: number;
  /** When the task ran, and its result. */
  readonly text: string;
  readonly tokens: number;
  /** The alert that was sent or is held back. */
  readonly alert: string | null;
}

/**
 * The report for `/heartbeat`, `parley heartbeat` and the web page. All of its text is created in
 * one place, so that the three outputs agree; times are in the agent's time zone.
 */
export interface HeartbeatReport {
  readonly timeZone: string;
  /** The source of the zone, if the settings and USER.md both name one. */
  readonly timeZoneFrom?: string;
  /** The text in HEARTBEAT.md outside its tasks, which is passed to each run. */
  readonly context?: string;
  readonly plan: {
    readonly enabled: boolean;
    readonly everyMinutes: number;
    readonly nextAt: number | null;
    readonly text: string;
    /**
     * Why no task ran at the last heartbeat; null if a task ran, and before the first heartbeat.
     */
    readonly lastSkip: string | null;
  };
  readonly tokens: { readonly today: number; readonly perDay: number };
  readonly tasks: readonly TaskReport[];
  readonly runs: readonly RunReport[];
  /** The invalid lines in HEARTBEAT.md, each with the expected form. */
  readonly problems: readonly string[];
}

/** The outcome of a request to run a task now. */
export interface HeartbeatAnswer {
  /** The task whose run was started; null if no run was started. */
  readonly task: string | null;
  readonly text: string;
}

const DAY_MS = 24 * 60 * 60_000;

/**
 * Formats a moment (ms) as local time in everyday form: `14:30`, `tomorrow 03:00`, `Mon 23 Nov
 * 03:00`.
 */
export function formatMoment(moment: number, clock: ZoneClock, now: number): string {
  const wall = clock.wallAt(moment);
  const today = clock.wallAt(now);
  const time = new Date(wall).toISOString().slice(11, 16);
  const days = Math.floor(wall / DAY_MS) - Math.floor(today / DAY_MS);
  if (days === 0) return time;
  if (days === 1) return `tomorrow ${time}`;
  if (days === -1) return `yesterday ${time}`;
  // Formats a string such as `Mon, 23 Nov 2026 03:00:00 GMT`.
  const [weekday = '', day, month, year] = new Date(wall).toUTCString().split(' ');
  const date = `${weekday.slice(0, 3)} ${Number(day)} ${month}`;
  const isThisYear = Number(year) === new Date(today).getUTCFullYear();
  return isThisYear ? `${date} ${time}` : `${date} ${year} ${time}`;
}
