import { randomBytes } from 'node:crypto';
import type { OutboundPart, ReplyRoute } from './channel.ts';
import type { Clock, Monotonic } from './time.ts';

/** Makes a fresh unique id such as `turn_01h…`; passed in so that tests can predict ids. */
export type NewId = (prefix: string) => string;

/** Unguessable unique ids of the machine's own chance: a prefix with 72 random bits. */
export const newId: NewId = (prefix) => `${prefix}_${randomBytes(9).toString('base64url')}`;

/**
 * Reports to operators; secrets are removed behind it. Two facts have a meaning of their own: `outage`, the
 * name of a server that does not answer, with each failure, and `recovered`, the same name, once it answers
 * again. Of an outage only a few lines are written.
 */
export interface Logger {
  debug(facts: object, message: string): void;
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
  /** A logger that adds `facts` to each of its lines. */
  child(facts: object): Logger;
}

/** A logger for tests and tools without a log. */
export const silentLogger: Logger = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  child: () => silentLogger,
};

/** Counts and observes what happens; the names and labels are those of `/metrics`. */
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
  /** From storing a message until its turn took it. */
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

/** Names of parts of Parley, numbers and outcomes. Never text of people, and no ids of people or chats. */
export type SpanFacts = Readonly<Record<string, string | number | boolean | undefined>>;

/** A stage that is running. */
export interface Span {
  /** The parent of a later stage, in the form of `traceparent`; absent where traces are off. */
  readonly trace: string | undefined;
  /** Adds what is known only now. */
  note(facts: SpanFacts): void;
}

/** The start of a span. */
export interface SpanStart {
  /** The stage before, as it was stored; where there is none, the span around this one. */
  readonly parent?: string | undefined;
  readonly facts?: SpanFacts;
}

/** Traces (optional): one for each platform event, through queues and processes to the receipt. */
export interface Tracer {
  /** Runs work as a stage. An error ends the stage as failed and is thrown on. */
  span<T>(name: SpanName, start: SpanStart, work: (span: Span) => Promise<T>): Promise<T>;
  /** A stage that is over: waiting, for example. Times in ms. */
  past(name: SpanName, start: SpanStart, from: number, to: number): void;
}

const SILENT_SPAN: Span = { trace: undefined, note() {} };

/** The tracer where traces are off: runs the work alone. */
export const silentTracer: Tracer = {
  span: (_name, _start, work) => work(SILENT_SPAN),
  past() {},
};

/**
 * The named points of the durable path at which a process may die without harm (D01, D04).
 * The crash checks kill the process at each of them.
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

/** Called whenever work passes a durable point; does nothing outside the crash checks. */
export type Checkpoint = (point: DurablePoint) => void;

/** The services that a process gives to all others. */
export interface Runtime {
  /** For moments that are stored, shown or compared with a calendar. */
  readonly clock: Clock;
  /** For how long something takes or waits in this process. */
  readonly monotonic: Monotonic;
  /** Chance in [0, 1). */
  readonly random: () => number;
  readonly newId: NewId;
  readonly log: Logger;
  readonly meter: Meter;
  readonly tracer: Tracer;
  readonly bus: LiveBus;
  readonly checkpoint: Checkpoint;
}

/**
 * Parts that a commit has just put into the outbox, all for one chat and in their order: the delivery of
 * the same process sends them without reading them again.
 */
export interface FreshParts {
  readonly parts: readonly OutboundPart[];
  /** The time of the commit, in ms. */
  readonly createdAt: number;
  readonly trace?: string | undefined;
}

/**
 * Signals that make waiting pleasant, stopping quick and sending prompt. They may be lost at any time:
 * truth is in the tables, a sweep finds what is due, and nothing is decided by a live event alone.
 */
export type LiveEvent =
  | {
      readonly type: 'turn-started';
      readonly conversationId: string;
      readonly turnId: string;
      readonly route: ReplyRoute;
      /** The message that is answered, where the route says that it is acknowledged. */
      readonly messageId?: string;
      /** Earlier messages of the turn for whose answer the platform waits: they get none of their own. */
      readonly alsoAnswered?: readonly ReplyRoute[];
    }
  | {
      readonly type: 'turn-delta';
      readonly conversationId: string;
      readonly turnId: string;
      /** Markdown that follows what earlier deltas of this step of the turn brought. */
      readonly text: string;
      /** Which step, from 0 (when absent). What earlier steps said, before tools, is no part of the answer. */
      readonly step?: number;
      /** The message that the answer quotes, where it has chosen one (G10); all deltas of a step say the same. */
      readonly replyToMessageId?: string;
    }
  | {
      readonly type: 'turn-ended';
      readonly conversationId: string;
      readonly turnId: string;
      /** `fenced`: another worker has the lane. `handed-back`: a later run resumes it. `suspended`: once a person has decided. `put-off`: once its model is back. `interrupted`: the next turn answers its messages, too. */
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
  /** A person has written where a running turn may be ended by that (D03). */
  | { readonly type: 'message-waiting'; readonly conversationId: string }
  /** A chat has parts to send: for the gateway that is connected as the account. */
  | {
      readonly type: 'delivery-due';
      readonly channel: string;
      readonly account: string;
      readonly chatId: string;
      /** Within the process that committed them; other processes read the outbox. */
      readonly fresh?: FreshParts | undefined;
    }
  /** Lists of conversations, or what waits for people, have changed besides turns and deliveries: pages look again. */
  | {
      readonly type: 'inbox-changed';
      /** Pages at other gateways are not notified: it happens with each message, and they see its turn. */
      readonly isLocal?: true;
    }
  /** Something was planned: the named schedule is looked at. */
  | { readonly type: 'schedule-due'; readonly schedule: string };

/** A tool that a turn has called, for people who watch. */
export interface LiveToolCall {
  /** The same in every run of the turn. */
  readonly callId: string;
  readonly tool: string;
  /** Its arguments in one line; see `argumentLine`. */
  readonly about: string;
  readonly state: 'running' | 'done' | 'failed';
  /** Its duration, in ms; 0 while it runs. */
  readonly ms: number;
}

/** A tool call and the turn it belongs to. */
export interface ToolCallOfTurn extends LiveToolCall {
  readonly turnId: string;
}

/** Publish and subscribe for live events: an emitter in one process, a relay between machines. */
export interface LiveBus {
  publish(event: LiveEvent): void;
  /** Returns the function that ends the subscription. A listener that throws is logged, not fatal. */
  subscribe(listener: (event: LiveEvent) => void): () => void;
}
