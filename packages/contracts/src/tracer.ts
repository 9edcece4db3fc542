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

/** Names of parts of Parley, numbers and outcomes. Never words of people, and no ids of people or chats. */
export type SpanFacts = Readonly<Record<string, string | number | boolean | undefined>>;

/** A stage under way. */
export interface Span {
  /** What a later stage names as its parent, in the form of `traceparent`; absent where traces are off. */
  readonly trace: string | undefined;
  /** Adds what is known only now. */
  note(facts: SpanFacts): void;
}

/** How a span begins. */
export interface SpanStart {
  /** The stage before, as it was stored; where there is none, the span around this one. */
  readonly parent?: string | undefined;
  readonly facts?: SpanFacts;
}

/** Traces (optional): one for each platform event, through queues and processes to the receipt. */
export interface Tracer {
  /** Does work as a stage. What it throws ends the stage as failed and is thrown on. */
  span<T>(name: SpanName, start: SpanStart, work: (span: Span) => Promise<T>): Promise<T>;
  /** A stage that is over: waiting, for example. Times in ms. */
  past(name: SpanName, start: SpanStart, from: number, to: number): void;
}

const SILENT_SPAN: Span = { trace: undefined, note() {} };

/** Where traces are off: the work alone. */
export const silentTracer: Tracer = {
  span: (_name, _start, work) => work(SILENT_SPAN),
  past() {},
};
