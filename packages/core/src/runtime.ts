import { randomBytes } from 'node:crypto';
import type { OutboundPart, ReplyRoute } from './channel.ts';
import type { Clock, Monotonic } from './time.ts';

/** Creates a unique id such as `turn_01h…`; passed in so that tests can predict ids. */
export type NewId = (prefix: string) => string;

/** Creates unguessable unique ids: a prefix and 72 random bits. */
export const newId: NewId = (prefix) => `${prefix}_${randomBytes(9).toString('base64url')}`;

/**
 * Reports to operators; secrets are removed before a line is written. Two facts have a special
 * meaning: `outage`, in each failure, names a server that does not respond, and `recovered` names
 * the server once it responds again. Only a few lines are written per outage.
 */
export interface Logger {
  debug(facts: object, message: string): void;
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
  /** Returns a logger that adds `facts` to each of its lines. */
  child(facts: object): Logger;
}

/** A logger for tests and tools that log nothing. */
export const silentLogger: Logger = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  child: () => silentLogger,
};

/** Counts events and observes durations; names and labels are those of `/metrics`. */
export interface Meter {
  /** Adds `by` (default 1) to a counter. */
  count(name: string, labels?: Readonly<Record<string, string>>, by?: number): void;
  /** Records a duration in milliseconds. */
  observe(name: string, milliseconds: number, labels?: Readonly<Record<string, string>>): void;
}

/** A meter for tests and tools that measure nothing. */
export const silentMeter: Meter = { count() {}, observe() {} };

/** The stages of the flow that a trace shows, in the order in which a message passes them. */
export type SpanName =
  | 'parley.ingress'
  | 'parley.inbox'
  /** The time from storing a message until its turn claims it. */
  | 'parley.lane'
  | 'parley.turn'
  | 'parley.prompt'
  | 'parley.model'
  | 'parley.tool'
  /** The commit of a turn, which puts its parts into the outbox. */
  | 'parley.outbox'
  | 'parley.delivery'
  | 'parley.send'
  | 'parley.receipt';

/**
 * Names of parts of Parley, numbers and outcomes; never text that people wrote, and no ids of
 * people or chats.
 */
export type SpanFields = Readonly<Record<string, string | number | boolean | undefined>>;

export interface Span {
  /** The parent for a later stage, in `traceparent` format; absent if tracing is disabled. */
  readonly trace: string | undefined;
  /** Adds facts that become known during the stage. */
  note(facts: SpanFields): void;
}

export interface SpanStart {
  /** The previous stage, as it was stored; if there is none, the enclosing span is the parent. */
  readonly parent?: string | undefined;
  readonly facts?: SpanFields;
}

/**
 * Records traces (optional): one per platform event, through queues and processes to the receipt.
 */
export interface Tracer {
  /** Runs work as a stage. An error marks the stage as failed and is rethrown. */
  span<T>(name: SpanName, start: SpanStart, work: (span: Span) => Promise<T>): Promise<T>;
  /** Records a completed stage, such as waiting. Times are in ms. */
  past(name: SpanName, start: SpanStart, from: number, to: number): void;
}

const SILENT_SPAN: Span = { trace: undefined, note() {} };

/** The tracer for disabled tracing, which only runs the work. */
export const silentTracer: Tracer = {
  span: (_name, _start, work) => work(SILENT_SPAN),
  past() {},
};

/**
 * The named points of the durable path at which a process may die without losing or repeating work
 * (D01, D04). The crash tests kill the process at each of them.
 */
export const DURABLE_POINTS = [
  'received',
  'inbox-committed',
  'turn-claimed',
  'model-called',
  'step-journalled',
  'turn-committed',
  'part-sending',
  'part-sent',
  'part-recorded',
  'account-taken',
  'job-fired',
] as const;
export type DurablePoint = (typeof DURABLE_POINTS)[number];

/** Called when work passes a durable point; does nothing outside the crash tests. */
export type Checkpoint = (point: DurablePoint) => void;

/** The services that a process provides to all its components. */
export interface Runtime {
  /** The clock for moments that are stored, shown or compared with a calendar. */
  readonly clock: Clock;
  /** The clock for durations and delays in this process. */
  readonly monotonic: Monotonic;
  /** A random number in [0, 1). */
  readonly random: () => number;
  readonly newId: NewId;
  readonly log: Logger;
  readonly meter: Meter;
  readonly tracer: Tracer;
  readonly bus: LiveBus;
  readonly checkpoint: Checkpoint;
}

/**
 * Answer parts that a commit has just added to the outbox, all for one chat and in order: delivery
 * in the same process sends them without reading them again.
 */
export interface CommittedParts {
  readonly parts: readonly OutboundPart[];
  /** The time of the commit, in ms. */
  readonly createdAt: number;
  readonly trace?: string | undefined;
}

/**
 * Signals that show progress, stop turns quickly and start delivery promptly. Live events may be
 * lost at any time: the tables are authoritative, a sweep finds what is due, and no decision
 * depends on a live event alone.
 */
export type LiveEvent =
  | {
      readonly type: 'turn-started';
      readonly conversationId: string;
      readonly turnId: string;
      readonly route: ReplyRoute;
      /** The message being answered, if the route acknowledges it. */
      readonly messageId?: string;
      /**
       * Earlier messages of the turn for which the platform also waits; they get no separate
       * answer.
       */
      readonly alsoAnswered?: readonly ReplyRoute[];
    }
  | {
      readonly type: 'turn-delta';
      readonly conversationId: string;
      readonly turnId: string;
      /** Markdown that continues the earlier deltas of this step of the turn. */
      readonly text: string;
      /**
       * The step, from 0 (the default). Text that earlier steps wrote before tool calls is not part
       * of the answer.
       */
      readonly step?: number;
      /**
       * The message that the answer quotes, if the agent chose one (G10); the same in all deltas of
       * a step.
       */
      readonly replyToMessageId?: string;
    }
  | {
      readonly type: 'turn-ended';
      readonly conversationId: string;
      readonly turnId: string;
      /**
       * `fenced`: another worker has the lane. `handed-back`: a later run resumes the turn.
       * `suspended`: the turn resumes once a person has decided. `put-off`: the turn resumes once
       * its model is available again. `interrupted`: the next turn also answers this turn's
       * messages.
       */
      readonly outcome:
        | 'answered'
        | 'silent'
        | 'stopped'
        | 'failed'
        | 'fenced'
        | 'handed-back'
        | 'interrupted'
        | 'suspended'
        | 'put-off';
    }
  | ({
      readonly type: 'tool-call';
      readonly conversationId: string;
      readonly turnId: string;
    } & LiveToolCall)
  | { readonly type: 'stop-turn'; readonly conversationId: string }
  /**
   * A person has written in a conversation in which a message may interrupt a running turn (D03).
   */
  | { readonly type: 'message-waiting'; readonly conversationId: string }
  /** A chat has message parts to send; the gateway that is connected as the account sends them. */
  | {
      readonly type: 'delivery-due';
      readonly channel: string;
      readonly account: string;
      readonly chatId: string;
      /**
       * The message parts, present within the process that committed them; other processes read the
       * outbox.
       */
      readonly fresh?: CommittedParts | undefined;
    }
  /**
   * Lists of conversations, or the items that wait for people, have changed other than through
   * turns and deliveries, so pages refresh.
   */
  | {
      readonly type: 'inbox-changed';
      /**
       * Pages at other gateways are not notified, because the event occurs with each message and
       * those pages are updated by its turn. If no turn may include the message, the worker that
       * detects this notifies the pages.
       */
      readonly isLocal?: true;
    }
  /** Something was scheduled, so the named schedule must be checked. */
  | { readonly type: 'schedule-due'; readonly schedule: string };

/** A tool call of a turn, for people who follow the turn. */
export interface LiveToolCall {
  /** The id of the call, which is the same in every run of the turn. */
  readonly callId: string;
  readonly tool: string;
  /** The arguments on one line; see `formatArguments`. */
  readonly about: string;
  readonly state: 'running' | 'done' | 'failed';
  /** The duration of the call, in ms; 0 while it runs. */
  readonly ms: number;
}

/** A tool call and the turn it belongs to. */
export interface ToolCallOfTurn extends LiveToolCall {
  readonly turnId: string;
}

/** Publishes live events to subscribers: an emitter in one process, a relay between machines. */
export interface LiveBus {
  publish(event: LiveEvent): void;
  /**
   * Returns a function that ends the subscription. An error in a listener is logged and does not
   * affect other listeners.
   */
  subscribe(listener: (event: LiveEvent) => void): () => void;
}
