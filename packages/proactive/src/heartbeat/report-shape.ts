import { z } from 'zod';
import type { ZoneClock } from '../zone-clock.ts';

const Moment = z.number().nullable();

/**
 * What came of the last run of a task. `nothing-new`: its check saw no change, so nothing was asked;
 * `noted`: only heartbeat-state.json knows of it.
 */
const LastRun = z.object({
  state: z.enum([
    'never',
    'noted',
    'nothing-new',
    'running',
    'quiet',
    'alerted',
    'held',
    'repeated',
    'unclear',
    'failed',
  ]),
  /** In ms; null: never. */
  at: Moment,
  words: z.string(),
});
export type LastRun = Readonly<z.infer<typeof LastRun>>;

/** When a task runs next, and why not now. `at` in ms; null where it is unknown. */
const NextRunText = z.object({
  state: z.enum([
    'off',
    'running',
    'no-tokens',
    'nobody-to-tell',
    'due',
    'not-yet',
    'out-of-hours',
    'done',
    'no-beat',
  ]),
  at: Moment,
  words: z.string(),
});
export type NextRunText = Readonly<z.infer<typeof NextRunText>>;

const TaskReport = z.object({
  name: z.string(),
  /** Such as `every 30 min, 09:00–21:00`. */
  schedule: z.string(),
  instruction: z.string(),
  /** The group that it names for its alerts; null: the owner. */
  tell: z.string().nullable(),
  last: LastRun,
  next: NextRunText,
});
export type TaskReport = Readonly<z.infer<typeof TaskReport>>;

const RunReport = z.object({
  id: z.string(),
  task: z.string(),
  state: LastRun.shape.state,
  at: z.number(),
  /** When it ran and its result. */
  words: z.string(),
  tokens: z.number(),
  /** The alert that was sent, or is held. */
  alert: z.string().nullable(),
});

/**
 * The report of `/heartbeat`, `parley heartbeat` and the page. All texts are written here, so that the three
 * say the same, with times in the time zone of the agent.
 */
export const HeartbeatReport = z.object({
  timeZone: z.string(),
  plan: z.object({
    enabled: z.boolean(),
    everyMinutes: z.number(),
    nextAt: Moment,
    words: z.string(),
    /** Why nothing ran the last time; null when something did, or before the first. */
    lastWords: z.string().nullable(),
  }),
  tokens: z.object({ today: z.number(), perDay: z.number() }),
  tasks: z.array(TaskReport),
  runs: z.array(RunReport),
  /** What of HEARTBEAT.md was not understood: where, and what is expected there. */
  problems: z.array(z.string()),
});
export type HeartbeatReport = z.infer<typeof HeartbeatReport>;

/** What came of a wish to run a task at once. */
export const HeartbeatAnswer = z.object({
  /** The task whose run began; null: none did. */
  task: z.string().nullable(),
  words: z.string(),
});
export type HeartbeatAnswer = Readonly<z.infer<typeof HeartbeatAnswer>>;

const DAY_MS = 24 * 60 * 60_000;

/** A moment (ms) as people say it: `14:30`, `tomorrow 03:00`, `Mon 23 Nov 03:00`, in local time. */
export function momentText(moment: number, clock: ZoneClock, now: number): string {
  const wall = clock.wallAt(moment);
  const today = clock.wallAt(now);
  const time = new Date(wall).toISOString().slice(11, 16);
  const days = Math.floor(wall / DAY_MS) - Math.floor(today / DAY_MS);
  if (days === 0) return time;
  if (days === 1) return `tomorrow ${time}`;
  if (days === -1) return `yesterday ${time}`;
  // Such as `Mon, 23 Nov 2026 03:00:00 GMT`.
  const [weekday = '', day, month, year] = new Date(wall).toUTCString().split(' ');
  const date = `${weekday.slice(0, 3)} ${Number(day)} ${month}`;
  const isThisYear = Number(year) === new Date(today).getUTCFullYear();
  return isThisYear ? `${date} ${time}` : `${date} ${year} ${time}`;
}
