import { z } from 'zod';
import type { ReplyRoute } from './channel.ts';
import type { InboundMessage } from './inbound-message.ts';
import type { Reader } from './prompt.ts';

/** The task and time of a job, as written by a person or a model (H08). */
export interface CronFields {
  readonly title?: string | undefined;
  readonly task?: string | undefined;
  /** For one run: a local date and time, or `in 20 min`. */
  readonly at?: string | undefined;
  /** For repeated runs: `30 min`, `daily at 8:00`, `2 days at 9:00`, `month`. */
  readonly every?: string | undefined;
  /** A cron expression of five fields. */
  readonly cron?: string | undefined;
  /** An IANA time zone; the agent's zone when absent. */
  readonly timeZone?: string | undefined;
  /**
   * The JSON format of its answers, as `json` or as the text of a JSON Schema; `none` switches back
   * to text.
   */
  readonly format?: string | undefined;
}

/** The message that asks and the route of its answers, which give a job its owner and its chat. */
interface CronTarget {
  readonly origin: InboundMessage;
  readonly route: ReplyRoute;
}

/**
 * A request about jobs. `askedBy` is the id of the call, so that repeating the call adds nothing.
 */
export type CronOrder =
  | ({
      readonly action: 'add';
      readonly askedBy: string;
      readonly fields: CronFields;
      /** The agent it belongs to, when an operator adds it; absent for the default one. */
      readonly agent?: string | undefined;
    } & CronTarget)
  | { readonly action: 'list' }
  | {
      readonly action: 'change';
      readonly id: string;
      readonly fields: CronFields;
      /** A different chat for it, which operators may choose. */
      readonly target?: CronTarget;
    }
  | { readonly action: 'show'; readonly id: string }
  | { readonly action: 'remove'; readonly id: string }
  /** `run` starts it now, whenever it is due. */
  | { readonly action: 'pause' | 'resume' | 'run'; readonly id: string };

/** The caller: the sender of a message in a chat, or the operator of the installation. */
export type CronAsker =
  | { readonly kind: 'chat'; readonly message: InboundMessage; readonly reader: Reader }
  | { readonly kind: 'operator' };

/** The result as text for people and models; a refusal says why and what to do. */
export interface CronAnswer {
  readonly ok: boolean;
  readonly text: string;
}

/** Performs a request about jobs, within the rights of the caller. */
export type AskCron = (order: CronOrder, asker: CronAsker) => Promise<CronAnswer>;

/** The zone of local times, for timetables that contain any. */
const Zone = {
  timeZone: z.string(),
  /**
   * `agent`: the agent's zone at the time the job was created; if the agent's zone changes, the
   * owner is asked whether the job should follow. `job`: the job was given this zone, or the owner
   * chose to keep it permanently. Absent: an older version created the job.
   */
  zoneOf: z.enum(['agent', 'job']).optional(),
  /** The agent's new zone about which the owner was asked but has not decided yet. */
  askedAbout: z.string().optional(),
};

/**
 * When a job is due (H08): once, at a fixed interval in ms from a starting moment, every few days
 * or months on the calendar of a time zone, or according to a cron expression of five fields in a
 * time zone. Times in ms since 1970.
 */
export const Timetable = z.discriminatedUnion('kind', [
  /** Has a zone when it was given as a local time. */
  z.strictObject({
    kind: z.literal('once'),
    at: z.int().nonnegative(),
    ...Zone,
    timeZone: z.string().optional(),
  }),
  z.strictObject({
    kind: z.literal('every'),
    ms: z.int().positive(),
    from: z.int().nonnegative(),
    /**
     * Counts elapsed hours. When absent, it was stored by a version that also counted whole days in
     * hours.
     */
    passes: z.literal(true).optional(),
  }),
  z.strictObject({
    kind: z.literal('calendar'),
    unit: z.enum(['day', 'month']),
    count: z.int().positive(),
    /** Its first local time, from which all others are counted: `2026-11-22T09:00`. */
    from: z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d$/),
    ...Zone,
  }),
  z.strictObject({ kind: z.literal('cron'), expression: z.string(), ...Zone }),
]);
export type Timetable = z.infer<typeof Timetable>;

/** Built-in work that a standing task may run instead of an instruction (H07). */
export const HEARTBEAT_ROUTINES = ['memory-upkeep'] as const;
export type HeartbeatRoutine = (typeof HEARTBEAT_ROUTINES)[number];

/**
 * What happens to the answer of a heartbeat run (H03, H04). The heartbeat service decides, and the
 * agent obeys.
 */
export type HeartbeatVerdict =
  /** It is not sent. `reason` is for the log and for `/heartbeat`. */
  | { readonly state: 'quiet' | 'unclear' | 'repeated'; readonly reason: string }
  | {
      readonly state: 'alerted';
      /** Markdown without the mark of system messages, which is added later. */
      readonly text: string;
      /** Equal for two alerts with the same content. */
      readonly fingerprint: string;
      /** It is not sent before this time, in ms. */
      readonly heldUntil?: number;
    };

/**
 * The source that a standing task checks before asking the model (H02): if it is unchanged, there
 * is no news.
 */
export type NewsCheck =
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'command'; readonly command: string };

/** Performs the checks of tasks, as far as the settings permit. */
export interface NewsChecker {
  /** Why this check is not possible here, as a short text; null when it is. */
  whyNot(check: NewsCheck): string | null;
  /** Returns the current state of the source; throws when the check fails this time. */
  look(check: NewsCheck): Promise<string>;
}

/** Judges the last text of a standing task's run; called again if the turn has to run again. */
export type JudgeHeartbeat = (
  answer: string,
  run: {
    readonly id: string;
    readonly agent: string;
    readonly task: string;
    /** Whether it is sent to a chat regardless of quiet hours. */
    readonly isUrgent?: boolean;
  },
) => Promise<HeartbeatVerdict>;

/** The entire message of a heartbeat run with nothing to report (H03); it is never sent. */
export const QUIET_TOKEN = 'HEARTBEAT_OK';

/**
 * The message that starts the run of a standing task, marked as a system message (G08). The task
 * itself is in the prompt.
 */
export const HEARTBEAT_PROMPT =
  '⚙️ A standing task is due: do what the heartbeat part of your instructions says.';

/** The entire message of an agent that chooses not to answer (G09). */
export const SILENT_TOKEN = 'NO_REPLY';
