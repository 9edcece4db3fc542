import { z } from 'zod';
import type { ReplyRoute } from './channel.ts';
import type { InboundMessage } from './inbound-message.ts';
import type { Reader } from './prompt.ts';

/** The task and time of a job, as written by a person or a model (H08). */
export interface CronFields {
  readonly title?: string | undefined;
  readonly task?: string | undefined;
  /** The time of a single run: a local date and time, or `in 20 min`. */
  readonly at?: string | undefined;
  /** The interval of repeated runs: `30 min`, `daily at 8:00`, `2 days at 9:00`, `month`. */
  readonly every?: string | undefined;
  /** A cron expression of five fields. */
  readonly cron?: string | undefined;
  /** An IANA time zone; the agent's zone when absent. */
  readonly timeZone?: string | undefined;
  /**
   * The JSON format of the answers, as `json` or as the text of a JSON Schema; `none` switches back
   * to text.
   */
  readonly format?: string | undefined;
}

/**
 * The requesting message and the route of its answers, which determine the owner and the chat of a
 * job.
 */
interface CronTarget {
  readonly origin: InboundMessage;
  readonly route: ReplyRoute;
}

/**
 * A request about jobs. `askedBy` is the id of the call, so that a repeated call does not add a
 * second job.
 */
export type CronRequest =
  | ({
      readonly action: 'add';
      readonly askedBy: string;
      readonly fields: CronFields;
      /** The agent of a job that an operator adds; absent for the default agent. */
      readonly agent?: string | undefined;
    } & CronTarget)
  | { readonly action: 'list' }
  | {
      readonly action: 'change';
      readonly id: string;
      readonly fields: CronFields;
      /** A different chat for the job, which operators may choose. */
      readonly target?: CronTarget;
    }
  | { readonly action: 'show'; readonly id: string }
  | { readonly action: 'remove'; readonly id: string }
  /** `run` starts the job now, even if it is not due. */
  | { readonly action: 'pause' | 'resume' | 'run'; readonly id: string };

/** The caller: the sender of a message in a chat, or the operator of the installation. */
export type CronRequester =
  | { readonly kind: 'chat'; readonly message: InboundMessage; readonly reader: Reader }
  | { readonly kind: 'operator' };

/** The result as text for people and models; a refusal states the reason and the remedy. */
export interface CronAnswer {
  readonly ok: boolean;
  readonly text: string;
}

/** Performs a request about jobs with the permissions of the caller. */
export type AskCron = (order: CronRequest, asker: CronRequester) => Promise<CronAnswer>;

/** The zone of local times, for timetables that contain any. */
const Zone = {
  timeZone: z.string(),
  /**
   * `agent`: the agent's zone when the job was created; if the agent's zone changes, the owner is
   * asked whether the job should follow. `job`: the job was given this zone, or the owner chose to
   * keep it permanently. Absent: an older version created the job.
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
  /** A zone is present if the time was given as a local time. */
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
     * An interval of elapsed time. When absent, the interval was stored by a version that also
     * counted whole days in hours.
     */
    passes: z.literal(true).optional(),
  }),
  z.strictObject({
    kind: z.literal('calendar'),
    unit: z.enum(['day', 'month']),
    count: z.int().positive(),
    /** The first local time, from which all others are counted: `2026-11-22T09:00`. */
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
 * What happens to the answer of a heartbeat run (H03, H04). The heartbeat service decides this for
 * the agent.
 */
export type HeartbeatVerdict =
  /** The answer is not sent. `reason` is shown in the log and by `/heartbeat`. */
  | { readonly state: 'quiet' | 'unclear' | 'repeated'; readonly reason: string }
  | {
      readonly state: 'alerted';
      /** Markdown without the mark for system messages, which is added later. */
      readonly text: string;
      /** A fingerprint that is equal for two alerts with the same content. */
      readonly fingerprint: string;
      /** The time before which the alert is not sent, in ms. */
      readonly heldUntil?: number;
    };

/**
 * The source that a standing task checks before calling the model (H02); if it is unchanged, there
 * is nothing new.
 */
export type NewsCheck =
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'command'; readonly command: string };

/** Performs the tasks' checks as far as the settings permit. */
export interface NewsChecker {
  /**
   * Returns a short explanation of why this installation cannot perform the check; null if it can.
   */
  whyNot(check: NewsCheck): string | null;
  /** Returns the current state of the source; throws if the check fails. */
  look(check: NewsCheck): Promise<string>;
}

/** Judges the last text that a standing task's run wrote; called again if the turn runs again. */
export type JudgeHeartbeat = (
  answer: string,
  run: {
    readonly id: string;
    readonly agent: string;
    readonly task: string;
    /** Whether the alert is sent to a chat regardless of quiet hours. */
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
