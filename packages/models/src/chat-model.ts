import { ParleyError, type ResponseFormat } from '@parley/core';
import { z } from 'zod';
import type { ModelPrice } from './model-settings.ts';

/** A picture for a model. */
export interface ModelImage {
  readonly mimeType: 'image/jpeg' | 'image/png' | 'image/gif' | 'image/webp';
  readonly bytes: Uint8Array;
}

/** A person's text with its pictures. */
export interface UserMessage {
  readonly role: 'user';
  readonly content: string;
  readonly images?: readonly ModelImage[];
  /**
   * The part of `content` that the person wrote, for a model that answers only a few fixed
   * questions.
   */
  readonly said?: string;
  /** The names of the attachments, for a model that cannot read them. */
  readonly attached?: readonly string[];
}

/** A tool call that the model requested. */
export interface ModelToolCall {
  /**
   * The provider's id for the call, which the result must reference. The id is unique among the
   * messages of one request.
   */
  readonly id: string;
  readonly name: string;
  /**
   * The arguments as the model wrote them, which may be invalid JSON; `parseToolArguments` parses them.
   */
  readonly arguments: string;
  /**
   * A signature that the provider expects to receive back with the call (Gemini's thought
   * signature).
   */
  readonly signature?: string;
}

/** The model's text; empty if it only called tools. */
export interface AssistantMessage {
  readonly role: 'assistant';
  readonly content: string;
  readonly toolCalls?: readonly ModelToolCall[];
}

/**
 * The result of a tool call. It follows the message with the call; each call has exactly one
 * result.
 */
export interface ToolMessage {
  readonly role: 'tool';
  readonly callId: string;
  readonly name: string;
  readonly content: string;
  readonly failed?: boolean;
}

/** One message of the conversation as the model sees it. */
export type ModelMessage = UserMessage | AssistantMessage | ToolMessage;

/** A tool that the model may call. */
export interface ModelTool {
  readonly name: string;
  readonly description: string;
  /** A JSON Schema whose root is an object. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

/**
 * A layer of the system prompt. `stable` layers come first and are the same in every call, so that
 * a provider with prompt caching can reuse them.
 */
export interface SystemLayer {
  readonly text: string;
  readonly stable: boolean;
}

export interface ModelRequest {
  readonly system: readonly SystemLayer[];
  readonly messages: readonly ModelMessage[];
  /** The tools, in a fixed order because prompt caches start with them. */
  readonly tools?: readonly ModelTool[];
  /**
   * All tools that a call may name, if there are more than the request offers; they are not sent.
   */
  readonly callable?: readonly ModelTool[];
  /**
   * The JSON format of the answer, for providers that can enforce it; the caller still validates
   * the answer.
   */
  readonly format?: ResponseFormat;
  /** True if shown text cannot be taken back, so that uncertain text must not be passed on. */
  readonly appendsOnly?: boolean;
  /** The maximum length of the answer in tokens; the provider's own limit when absent. */
  readonly maxOutputTokens?: number;
}

/**
 * The token usage of one call. `cachedInputTokens` is the part of `inputTokens` that was read from
 * a prompt cache.
 */
export interface ModelUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedInputTokens: number;
  /** The share at which each cached token counts, derived from its price; 1 when absent. */
  readonly cachedShare?: number;
  /** True if the server sent no counts, so that they were estimated from the length of the text. */
  readonly estimated: boolean;
}

/**
 * The last event of a successful call. `text` is the whole answer; it is empty only if there are
 * tool calls.
 */
export interface ModelFinish {
  readonly type: 'finish';
  readonly text: string;
  readonly usage: ModelUsage;
  /** One of `stop`, `length`, `content-filter`, `tool-calls`, `error` and `other`. */
  readonly finishReason: string;
  /**
   * The finish reason as the provider wrote it, if the answer did not end normally: `max_tokens`,
   * `SAFETY` …
   */
  readonly rawFinishReason?: string;
  /**
   * The model that the server names as the author, if it clearly differs from the requested one.
   */
  readonly servedModel?: string;
  /** The model that answered, as `provider/model`; with fallbacks it may not be the first model. */
  readonly model: string;
  /** Null if no price is configured for that model. */
  readonly costUsd: number | null;
  /** The number of requests made for this answer, if more than one. */
  readonly tries?: number;
  /** The limit at which the answer was cut off; absent if it is complete. */
  readonly cut?: ExceededAnswerLimit;
  /**
   * Parts that the model wrote besides its answer, for people who debug; absent if there are none.
   */
  readonly aside?: HiddenAnswerParts;
}

/**
 * The parts that were separated from an answer, truncated. They are never shown in a chat and never
 * sent to a model.
 */
export interface HiddenAnswerParts {
  readonly reasoning: string;
  /** The total length of the reasoning, in characters. */
  readonly reasoningCharacters: number;
  /** Calls that the model wrote into its text and that did not run. */
  readonly dropped: readonly { readonly raw: string; readonly problem: string }[];
}

/** A limit that an answer has exceeded: its name in the settings, and its value. */
export interface ExceededAnswerLimit {
  readonly what: 'characters' | 'reasoningCharacters' | 'argumentBytes' | 'calls';
  readonly most: number;
}

/**
 * An event while a model answers: fragments of text and complete tool calls, then exactly one
 * `finish`.
 */
export type ModelEvent =
  | { readonly type: 'text'; readonly text: string }
  /** All text so far was reasoning; the answer begins with the next event. */
  | { readonly type: 'restart' }
  | { readonly type: 'tool-call'; readonly call: ModelToolCall }
  | ModelFinish;

export interface ChatModel {
  /**
   * The id `provider/model`, for people. The id may change over time if the model is chosen
   * automatically.
   */
  readonly id: string;
  /**
   * The context window in tokens, as the server stated it when it refused longer requests; the
   * smallest number applies. Null or absent if unknown.
   */
  readonly learnedTokens?: number | null;
  /**
   * Records the context window that a refusal has revealed, for all later requests of this process.
   */
  learnTokens?(tokens: number): void;
  /**
   * Throws only `ModelError`, even if `signal` is aborted; leaving the loop early ends the call to
   * the provider.
   */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>;
}

const Arguments = z.record(z.string(), z.unknown());

/**
 * Parses the arguments of a call as an object; null if the model wrote something else. Many models
 * write an empty string for a tool without parameters, which counts as an empty object.
 */
export function parseToolArguments(
  call: Pick<ModelToolCall, 'arguments'>,
): Readonly<Record<string, unknown>> | null {
  if (call.arguments.trim() === '') return {};
  try {
    const parsed = Arguments.safeParse(JSON.parse(call.arguments));
    return parsed.success ? parsed.data : null;
  } catch {
    // Broken JSON is a common mistake of small models; the caller reports it to the model.
    return null;
  }
}

/** Why a model gave no answer, as kinds that the caller can handle. */
export type ModelFailure =
  | { readonly kind: 'unreachable'; readonly because?: 'certificate' }
  | { readonly kind: 'broken-off' }
  | { readonly kind: 'unauthorised' }
  /**
   * Something between Parley and the server refused the request: a firewall, a proxy, a sign-in
   * page.
   */
  | { readonly kind: 'blocked' }
  | { readonly kind: 'no-credit' }
  | { readonly kind: 'not-found' }
  | { readonly kind: 'rate-limited'; readonly retryAfterMs: number | null }
  /**
   * `mayBeTooLong`: the server gave no reason, and some servers refuse oversized requests without
   * one.
   */
  /** `retryAfterMs`: the delay that the server asks for; absent if it does not state one. */
  | {
      readonly kind: 'overloaded';
      readonly mayBeTooLong?: true;
      readonly retryAfterMs?: number;
    }
  | RequestTooLong
  /**
   * The requested answer length is larger than the model allows; null if the error did not state
   * the allowed length.
   */
  | {
      readonly kind: 'output-limit';
      readonly limitTokens: number | null;
      readonly windowTokens?: number;
    }
  | { readonly kind: 'refused'; readonly mayBeTooLong?: true }
  | { readonly kind: 'no-tools' }
  /** The model requires roles to alternate in a different way. */
  | { readonly kind: 'message-order' }
  | { readonly kind: 'filtered' }
  | { readonly kind: 'rubbish' }
  | { readonly kind: 'empty' }
  /** The reasoning exceeded the limit before the model wrote any answer. */
  | { readonly kind: 'endless' }
  | { readonly kind: 'timeout'; readonly phase: 'first-token' | 'stalled' | 'total' }
  | { readonly kind: 'aborted' };

/** The request is longer than the model accepts. */
export interface RequestTooLong {
  readonly kind: 'too-long';
  /** The context window of the model, if the server stated it. */
  readonly windowTokens?: number;
  /** The number of tokens in the request, as counted by the server. */
  readonly promptTokens?: number;
  /** True if the numbers may be bytes, from a proxy in front of the server. */
  readonly isBytes?: true;
}

const RETRYABLE: ReadonlySet<ModelFailure['kind']> = new Set([
  'unreachable',
  'broken-off',
  'rate-limited',
  'overloaded',
  'empty',
  'timeout',
]);

/**
 * The only error that a `ChatModel` throws. The error code is `model-` and the kind of failure; the
 * message is for people. `cause` never contains the request, so that no prompt reaches a log
 * through an error.
 */
export class ModelError extends ParleyError {
  readonly failure: ModelFailure;
  /** The failed model, as `provider/model`. */
  readonly model: string;

  constructor(failure: ModelFailure, model: string, message: string, cause?: unknown) {
    const code = `model-${failure.kind}`;
    super({ code, message, retryable: RETRYABLE.has(failure.kind), cause });
    this.failure = failure;
    this.model = model;
  }
}

/** The usage that a provider reported; undefined if it did not report usage. */
export interface ReportedUsage {
  readonly inputTokens: {
    readonly total: number | undefined;
    readonly cacheRead: number | undefined;
  };
  readonly outputTokens: { readonly total: number | undefined };
}

/** The number of characters per token, a rule of thumb for English; Chinese needs more tokens. */
const CHARACTERS_PER_TOKEN = 4;

/**
 * The rough cost of a picture: providers charge between 85 and 1,600 tokens, depending on its size.
 */
const TOKENS_PER_IMAGE = 1_000;

/**
 * The token usage of a call: as reported, or estimated from lengths if the server counted nothing.
 */
export function countUsage(
  reported: ReportedUsage,
  request: ModelRequest,
  answerCharacters: number,
): ModelUsage {
  const input = reported.inputTokens.total ?? 0;
  const output = reported.outputTokens.total ?? 0;
  // Some servers send zeros for missing counts; an answer without any tokens does not exist.
  if (input > 0 && output > 0) {
    const cached = Math.min(reported.inputTokens.cacheRead ?? 0, input);
    return {
      inputTokens: input,
      outputTokens: output,
      cachedInputTokens: cached,
      estimated: false,
    };
  }
  return {
    inputTokens: input > 0 ? input : estimateTokens(getRequestLength(request)),
    outputTokens: output > 0 ? output : estimateTokens(answerCharacters),
    cachedInputTokens: 0,
    estimated: true,
  };
}

/** The cost of a call in US dollars; null without a price, because unknown is not free. */
export function computeCost(usage: ModelUsage, price: ModelPrice | undefined): number | null {
  if (price === undefined) return null;
  const fresh = usage.inputTokens - usage.cachedInputTokens;
  const cachedPrice = price.cachedInputPerMillion ?? price.inputPerMillion;
  const millionths =
    fresh * price.inputPerMillion +
    usage.cachedInputTokens * cachedPrice +
    usage.outputTokens * price.outputPerMillion;
  return millionths / 1_000_000;
}

function getRequestLength(request: ModelRequest): number {
  let length = 0;
  for (const layer of request.system) length += layer.text.length;
  for (const tool of request.tools ?? []) length += JSON.stringify(tool).length;
  for (const message of request.messages) length += getMessageLength(message);
  return length;
}

function getMessageLength(message: ModelMessage): number {
  const { length } = message.content;
  switch (message.role) {
    case 'user':
      return length + (message.images?.length ?? 0) * TOKENS_PER_IMAGE * CHARACTERS_PER_TOKEN;
    case 'assistant':
      return (message.toolCalls ?? []).reduce(
        (sum, call) => sum + call.name.length + call.arguments.length,
        length,
      );
    case 'tool':
      return length;
  }
}

function estimateTokens(characters: number): number {
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
}
