import { z } from 'zod';

const Moment = z.number().nullable();

/**
 * What came of the last run of a task. `nothing-new`: its check saw no change, so nothing was asked;
 * `noted`: heartbeat-state.json says when, and nobody knows more.
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

/** When a task runs next, and why not now. `at` in ms; null where nobody can say. */
const NextRunWords = z.object({
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
export type NextRunWords = Readonly<z.infer<typeof NextRunWords>>;

/** How a standing task does. */
const TaskReport = z.object({
  name: z.string(),
  /** Such as `every 30 min, 09:00–21:00`. */
  schedule: z.string(),
  instruction: z.string(),
  /** The group that it names for its alerts; null: the owner. */
  tell: z.string().nullable(),
  last: LastRun,
  next: NextRunWords,
});
export type TaskReport = Readonly<z.infer<typeof TaskReport>>;

/** One run, the newest first in a report. */
const RunReport = z.object({
  id: z.string(),
  task: z.string(),
  state: LastRun.shape.state,
  at: z.number(),
  /** When and what came of it, in a few words. */
  words: z.string(),
  tokens: z.number(),
  /** What was told, or waits to be. */
  alert: z.string().nullable(),
});

/**
 * How the heartbeat does: what `/heartbeat`, `parley heartbeat` and the page show. All words are made
 * here, so that the three say the same, with times in the time zone of the agent.
 */
export const HeartbeatReport = z.object({
  timeZone: z.string(),
  plan: z.object({
    enabled: z.boolean(),
    everyMinutes: z.number(),
    /** In ms; null where there is none. */
    nextAt: Moment,
    words: z.string(),
    /** Why the last beat ran nothing; null when it did, or before the first. */
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
