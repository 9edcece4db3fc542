import type { ModelRequest, ModelToolCall, ReportedUsage } from './chat-model.ts';

/** Why an answer ended, in the terms of this package; providers use many more. */
export type FinishReason =
  | 'stop'
  | 'length'
  | 'content-filter'
  | 'tool-calls'
  /** The provider aborted the answer without sending an error. */
  | 'error'
  | 'other';

/** The end of an answer. A provider may send the end in several events. */
export interface ProviderFinish {
  readonly type: 'finish';
  readonly reason: FinishReason;
  /** The finish reason as the provider wrote it; null if there is none. */
  readonly rawReason: string | null;
  readonly usage: ReportedUsage;
  /** The model that answered, as the server names it; null if the server does not state it. */
  readonly servedModel: string | null;
}

/**
 * A part that a client passes on while a provider answers, in the same form for every provider.
 * `alive` stands for any received data without content: a comment, a ping, an empty chunk.
 */
export type AnswerPart =
  | { readonly type: 'alive' }
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'reasoning'; readonly text: string }
  /** All text so far was reasoning, which follows as a reasoning part. */
  | { readonly type: 'restart' }
  /** A call that the model wrote into its text and that does not run. */
  | {
      readonly type: 'dropped';
      readonly why: DropReason;
      readonly raw: string;
      readonly problem: string;
    }
  | { readonly type: 'call-start'; readonly id: string; readonly name: string }
  /** A further fragment of the arguments of a call. */
  | { readonly type: 'call-input'; readonly id: string; readonly text: string }
  /** A complete call; some providers do not send fragments before a complete call. */
  | { readonly type: 'tool-call'; readonly call: ModelToolCall }
  /** An error inside the stream; `collectCallFailureDetails` reads it like a thrown one. */
  | { readonly type: 'error'; readonly error: unknown }
  | ProviderFinish;

/** Why a call that a model wrote into its text does not run. */
export type DropReason = 'unknown-tool' | 'misfit' | 'unreadable' | 'too-long';

/**
 * One model of one provider, as used by `createProviderModel`; it implements the wire format, but
 * no deadlines or limits.
 */
export interface ProviderClient {
  /**
   * Sends one request. The stream completes after `finish`; it throws if the provider refuses, if
   * the connection breaks before the answer is complete, or if `signal` is aborted. Leaving the
   * loop closes the connection.
   */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<AnswerPart>;
}

/** A failure that only the state of the stream reveals: the answer is empty or ends too early. */
export class StreamFailure extends Error {
  readonly failure: {
    readonly kind: 'broken-off' | 'rubbish' | 'empty' | 'filtered' | 'endless';
  };

  constructor(kind: StreamFailure['failure']['kind'], message = '') {
    super(message);
    this.failure = { kind };
  }
}
