/** A picture that a model is to see. */
export interface ModelImage {
  readonly mimeType: 'image/jpeg' | 'image/png' | 'image/gif' | 'image/webp';
  readonly bytes: Uint8Array;
}

/** What a person wrote, and what came with it. */
export interface UserMessage {
  readonly role: 'user';
  readonly content: string;
  readonly images?: readonly ModelImage[];
  /** Names of everything that came with it, for a model that can read none of it. */
  readonly attached?: readonly string[];
}

/** One turn of the conversation as the model sees it; tool messages will be further members. */
export type ModelMessage = UserMessage | { readonly role: 'assistant'; readonly content: string };

/** A layer of the system prompt. `stable` layers come first and are the same on every call, so a
 * provider that sells prompt caching can keep them. */
export interface SystemLayer {
  readonly text: string;
  readonly stable: boolean;
}

/** Everything a model is asked with. */
export interface ModelRequest {
  readonly system: readonly SystemLayer[];
  readonly messages: readonly ModelMessage[];
  /** In tokens; the provider's own limit when absent. */
  readonly maxOutputTokens?: number;
}

/** Tokens of one call. `cachedInputTokens` is the part of `inputTokens` read from a prompt cache. */
export interface ModelUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedInputTokens: number;
  /** The server sent no count, so these were guessed from the length of the text. */
  readonly estimated: boolean;
}

/** The last event of a successful call; `text` is the whole answer, never empty. */
export interface ModelFinish {
  readonly type: 'finish';
  readonly text: string;
  readonly usage: ModelUsage;
  /** `stop`, `length`, `content-filter`, `tool-calls`, `error` or `other`. */
  readonly finishReason: string;
  /** Which model answered, as `provider/model`: with fallbacks not always the first one. */
  readonly model: string;
  /** Null when no price is configured for that model. */
  readonly costUsd: number | null;
}

/** What arrives while a model answers: pieces of text, then exactly one `finish`. */
export type ModelEvent = { readonly type: 'text'; readonly text: string } | ModelFinish;

/** The one port behind which every language model lives. */
export interface ChatModel {
  /** `provider/model`, for people. May change over time for a model chosen automatically. */
  readonly id: string;
  /**
   * Asks the model. Throws only `ModelError`, also when `signal` is aborted; leaving the loop early
   * ends the call to the provider.
   */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>;
}
