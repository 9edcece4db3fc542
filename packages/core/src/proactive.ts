import { z } from 'zod';
import type { ReplyRoute } from './channel.ts';
import type { InboundMessage } from './inbound-message.ts';
import type { Reader } from './prompt.ts';

/** The task and time of a job, as a person or a model writes them (H08). */
export interface CronFields {
  readonly title?: string | undefined;
  readonly task?: string | undefined;
  /** Once: a local date and time, or `in 20 min`. */
  readonly at?: string | undefined;
  /** Repeated: `30 min`, `daily at 8:00`, `2 days at 9:00`, `month`. */
  readonly every?: string | undefined;
  /** An expression of five fields. */
  readonly cron?: string | undefined;
  /** IANA name; that of the agent when absent. */
  readonly timeZone?: string | undefined;
  /** The JSON that its answers must be, as `json` or as the text of a JSON Schema; `none`: text again. */
  readonly format?: string | undefined;
}

/** The message that asks, and the route of its answers: they give a job its owner and its chat. */
interface CronTarget {
  readonly origin: InboundMessage;
  readonly route: ReplyRoute;
}

/** A request about jobs. `askedBy` is the id of the call: the same call again adds nothing. */
export type CronOrder =
  | ({
      readonly action: 'add';
      readonly askedBy: string;
      readonly fields: CronFields;
      /** The agent it belongs to, where an operator adds it; absent: the default one. */
      readonly agent?: string | undefined;
    } & CronTarget)
  | { readonly action: 'list' }
  | {
      readonly action: 'change';
      readonly id: string;
      readonly fields: CronFields;
      /** Another chat for it, which operators may choose. */
      readonly target?: CronTarget;
    }
  | { readonly action: 'show'; readonly id: string }
  | { readonly action: 'remove'; readonly id: string }
  /** `run`: at once, whenever it is due. */
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

/** Carries out a request about jobs, within the rights of the caller. */
export type AskCron = (order: CronOrder, asker: CronAsker) => Promise<CronAnswer>;

/** The zone of local times, where a timetable has some. */
const Zone = {
  timeZone: z.string(),
  /**
   * `agent`: it is the zone of the agent, as it was when the job was made; once that changes, the owner is asked whether
   * the job changes with it. `job`: the job was given this zone, or the owner has chosen to keep it, for good. Absent: an
   * older version made the job.
   */
  zoneOf: z.enum(['agent', 'job']).optional(),
  /** The zone of the agent about which its owner was asked and has not decided. */
  askedAbout: z.string().optional(),
};

/**
 * When a job is due (H08): once, every so many ms counted from a moment, every so many days or months on the
 * calendar of a time zone, or as a cron expression of five fields says, in a time zone. Times in ms since 1970.
 */
export const Timetable = z.discriminatedUnion('kind', [
  /** With a zone where it was given as a local time. */
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
    /** Hours that pass. Absent: stored by a version that counted whole days in hours, too. */
    passes: z.literal(true).optional(),
  }),
  z.strictObject({
    kind: z.literal('calendar'),
    unit: z.enum(['day', 'month']),
    count: z.int().positive(),
    /** Its first local time, to which all others are counted: `2026-11-22T09:00`. */
    from: z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d$/),
    ...Zone,
  }),
  z.strictObject({ kind: z.literal('cron'), expression: z.string(), ...Zone }),
]);
export type Timetable = z.infer<typeof Timetable>;

/** Built-in work that a standing task may run in place of an instruction (H07). */
export const HEARTBEAT_ROUTINES = ['memory-upkeep'] as const;
export type HeartbeatRoutine = (typeof HEARTBEAT_ROUTINES)[number];

/** The fate of the answer to a heartbeat run (H03, H04). The heartbeat service decides, the agent obeys. */
export type HeartbeatVerdict =
  /** It is not sent. `reason` is for the log and for `/heartbeat`. */
  | { readonly state: 'quiet' | 'unclear' | 'repeated'; readonly reason: string }
  | {
      readonly state: 'alerted';
      /** Markdown without the mark of system messages, which is added. */
      readonly text: string;
      /** The same for two alerts that say the same. */
      readonly fingerprint: string;
      /** It is not sent before this time, in ms. */
      readonly heldUntil?: number;
    };

/** The source that a standing task checks before the model is asked (H02): if it is unchanged, nothing is new. */
export type NewsCheck =
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'command'; readonly command: string };

/** Makes the checks of tasks, within what the settings allow. */
export interface NewsChecker {
  /** Why this check is not possible here, as a short text; null where it is. */
  whyNot(check: NewsCheck): string | null;
  /** The result; throws where the check fails this time. */
  look(check: NewsCheck): Promise<string>;
}

/** Judges the last text of a run of a standing task; called again if the turn has to run again. */
export type JudgeHeartbeat = (
  answer: string,
  run: {
    readonly id: string;
    readonly agent: string;
    readonly task: string;
    /** It goes to a chat without quiet hours. */
    readonly isUrgent?: boolean;
  },
) => Promise<HeartbeatVerdict>;

/** The whole message of a heartbeat run with nothing to report (H03); it is never sent. */
export const QUIET_TOKEN = 'HEARTBEAT_OK';

/** The message that starts the run of a standing task, marked as a system message (G08); the task itself is in the prompt. */
export const HEARTBEAT_PROMPT =
  '⚙️ A standing task is due: do what the heartbeat part of your instructions says.';

/** The whole message of an agent that chooses not to answer (G09). */
export const SILENT_TOKEN = 'NO_REPLY';
