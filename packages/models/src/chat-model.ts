import { ParleyError, type ResponseFormat } from '@parley/core';
import { z } from 'zod';
import type { ModelPrice } from './model-settings.ts';

/** A picture that a model is to see. */
export interface ModelImage {
  readonly mimeType: 'image/jpeg' | 'image/png' | 'image/gif' | 'image/webp';
  readonly bytes: Uint8Array;
}

/** The text of a person, with its pictures. */
export interface UserMessage {
  readonly role: 'user';
  readonly content: string;
  readonly images?: readonly ModelImage[];
  /** Of `content` what the person wrote, for a model that understands plain questions alone. */
  readonly said?: string;
  /** Names of everything that came with it, for a model that can read none of it. */
  readonly attached?: readonly string[];
}

/** One thing the model asked to have done. */
export interface ModelToolCall {
  /** The provider's own; the result has to name it. Unique among the messages of one request. */
  readonly id: string;
  readonly name: string;
  /** JSON as the model wrote it, which may be no JSON at all: `toolArguments` reads it. */
  readonly arguments: string;
  /** The signature that the provider wants back with the call, where it sent one (Gemini's thought signature). */
  readonly signature?: string;
}

/** The text of the model; empty where it only called tools. */
export interface AssistantMessage {
  readonly role: 'assistant';
  readonly content: string;
  readonly toolCalls?: readonly ModelToolCall[];
}

/** The result of one call. Follows the message that called; each call has exactly one. */
export interface ToolMessage {
  readonly role: 'tool';
  readonly callId: string;
  readonly name: string;
  readonly content: string;
  readonly failed?: boolean;
}

/** One turn of the conversation as the model sees it. */
export type ModelMessage = UserMessage | AssistantMessage | ToolMessage;

/** A tool the model may call. */
export interface ModelTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of an object. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

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
  /** In an order that stays the same, because prompt caches begin with them. */
  readonly tools?: readonly ModelTool[];
  /** The JSON to answer with, for providers that can hold a model to it; the caller checks the answer. */
  readonly format?: ResponseFormat;
  /** The shown part of the answer cannot be taken back, so nothing uncertain must be passed on. */
  readonly appendsOnly?: boolean;
  /** In tokens; the provider's own limit when absent. */
  readonly maxOutputTokens?: number;
}

/** Tokens of one call. `cachedInputTokens` is the part of `inputTokens` read from a prompt cache. */
export interface ModelUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedInputTokens: number;
  /** The share of a token that each of these counts, by its price; a whole one when absent. */
  readonly cachedShare?: number;
  /** The server sent no count, so these were guessed from the length of the text. */
  readonly estimated: boolean;
}

/** The last event of a successful call; `text` is the whole answer, empty only beside tool calls. */
export interface ModelFinish {
  readonly type: 'finish';
  readonly text: string;
  readonly usage: ModelUsage;
  /** `stop`, `length`, `content-filter`, `tool-calls`, `error` or `other`. */
  readonly finishReason: string;
  /** As the provider wrote it, where the answer did not simply end: `max_tokens`, `SAFETY` … */
  readonly rawFinishReason?: string;
  /** The model that the server names as its author, where that is clearly another one than was asked. */
  readonly servedModel?: string;
  /** Which model answered, as `provider/model`: with fallbacks not always the first one. */
  readonly model: string;
  /** Null when no price is configured for that model. */
  readonly costUsd: number | null;
  /** The number of times models were asked for it, where that was more than once. */
  readonly tries?: number;
  /** The bound at which the answer was ended; absent: it is whole. */
  readonly cut?: AnswerCut;
  /** The model's text besides its answer, for people who look for a cause; absent: none. */
  readonly aside?: AnswerAside;
}

/** The parts that were separated from an answer, shortened. It is never shown in a chat and never sent to a model. */
export interface AnswerAside {
  readonly reasoning: string;
  /** The length of all its reasoning, in characters. */
  readonly reasoningCharacters: number;
  /** Calls that it wrote into its text and that were not run. */
  readonly dropped: readonly { readonly raw: string; readonly problem: string }[];
}

/** A bound that an answer has exceeded, as the settings name it, and its value. */
export interface AnswerCut {
  readonly what: 'characters' | 'reasoningCharacters' | 'argumentBytes' | 'calls';
  readonly most: number;
}

/** An event while a model answers: pieces of text and whole tool calls, then exactly one `finish`. */
export type ModelEvent =
  | { readonly type: 'text'; readonly text: string }
  /** All text so far was reasoning: the answer begins now. */
  | { readonly type: 'restart' }
  | { readonly type: 'tool-call'; readonly call: ModelToolCall }
  | ModelFinish;

/** The one port behind which every language model lives. */
export interface ChatModel {
  /** `provider/model`, for people. May change over time for a model chosen automatically. */
  readonly id: string;
  /**
   * The context window of the model, in tokens, as its server has stated by refusing longer requests; the smallest
   * number counts. Null or absent: not known.
   */
  readonly learnedTokens?: number | null;
  /** Notes what the model takes, for all later requests of this process. */
  learnTokens?(tokens: number): void;
  /**
   * Asks the model. Throws only `ModelError`, also when `signal` is aborted; leaving the loop early
   * ends the call to the provider.
   */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>;
}

const Arguments = z.record(z.string(), z.unknown());

/**
 * The arguments of a call as an object; null when the model wrote something else. Many models write
 * nothing at all for a tool without parameters, which counts as none.
 */
export function toolArguments(
  call: Pick<ModelToolCall, 'arguments'>,
): Readonly<Record<string, unknown>> | null {
  if (call.arguments.trim() === '') return {};
  try {
    const parsed = Arguments.safeParse(JSON.parse(call.arguments));
    return parsed.success ? parsed.data : null;
  } catch {
    // Broken JSON is an everyday mistake of small models; the caller reports it to the model.
    return null;
  }
}

/** Why a model gave no answer, as far as a caller can act on it. */
export type ModelFailure =
  | { readonly kind: 'unreachable'; readonly because?: 'certificate' }
  | { readonly kind: 'broken-off' }
  | { readonly kind: 'unauthorised' }
  /** Something between Parley and the server refused: a firewall, a proxy, a sign-in page. */
  | { readonly kind: 'blocked' }
  | { readonly kind: 'no-credit' }
  | { readonly kind: 'not-found' }
  | { readonly kind: 'rate-limited'; readonly retryAfterMs: number | null }
  /** `mayBeTooLong`: the server gave no reason, and some refuse too long requests that way. */
  /** `retryAfterMs`: the rest that the server wants; absent where it does not say. */
  | {
      readonly kind: 'overloaded';
      readonly mayBeTooLong?: true;
      readonly retryAfterMs?: number;
    }
  | TooLong
  /** The room that was asked for the answer is larger than the model allows; null: it did not say how much it does. */
  | {
      readonly kind: 'output-limit';
      readonly limitTokens: number | null;
      readonly windowTokens?: number;
    }
  | { readonly kind: 'refused'; readonly mayBeTooLong?: true }
  /** The model takes no tools. */
  | { readonly kind: 'no-tools' }
  /** The model insists that roles take turns in another way. */
  | { readonly kind: 'message-order' }
  | { readonly kind: 'filtered' }
  | { readonly kind: 'rubbish' }
  | { readonly kind: 'empty' }
  /** Its thoughts exceeded their bound before it said anything. */
  | { readonly kind: 'endless' }
  | { readonly kind: 'timeout'; readonly phase: 'first-token' | 'stalled' | 'total' }
  | { readonly kind: 'aborted' };

/** The request exceeds what the model takes at a time. */
export interface TooLong {
  readonly kind: 'too-long';
  /** The window of the model, where the server named it. */
  readonly windowTokens?: number;
  /** The tokens of the request by the server's count. */
  readonly promptTokens?: number;
  /** Bytes may be meant, by a proxy in front of the server. */
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
 * The only error a `ChatModel` throws; its code is `model-` and the failure's kind. The message is for
 * people. `cause` never holds the request, so that a prompt cannot reach a log through an error.
 */
export class ModelError extends ParleyError {
  readonly failure: ModelFailure;
  /** The model that failed, as `provider/model`. */
  readonly model: string;

  constructor(failure: ModelFailure, model: string, message: string, cause?: unknown) {
    const code = `model-${failure.kind}`;
    super({ code, message, retryable: RETRYABLE.has(failure.kind), cause });
    this.failure = failure;
    this.model = model;
  }
}

/** The usage that a provider reported; undefined where it reported none. */
export interface ReportedUsage {
  readonly inputTokens: {
    readonly total: number | undefined;
    readonly cacheRead: number | undefined;
  };
  readonly outputTokens: { readonly total: number | undefined };
}

/** Characters of one token, the usual rule of thumb for English; Chinese needs more tokens. */
const CHARACTERS_PER_TOKEN = 4;

/** The rough cost of a picture: providers take between 85 and 1,600, by its size. */
const TOKENS_PER_IMAGE = 1_000;

/** The tokens of a call: as reported, or guessed from lengths when the server counted nothing. */
export function countUsage(
  reported: ReportedUsage,
  request: ModelRequest,
  answerCharacters: number,
): ModelUsage {
  const input = reported.inputTokens.total ?? 0;
  const output = reported.outputTokens.total ?? 0;
  // Some servers send zeros instead of nothing; an answer without any tokens does not exist.
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
    inputTokens: input > 0 ? input : estimateTokensOf(requestLength(request)),
    outputTokens: output > 0 ? output : estimateTokensOf(answerCharacters),
    cachedInputTokens: 0,
    estimated: true,
  };
}

/** Money of a call in US dollars; null without a price, because unknown is not free. */
export function costOf(usage: ModelUsage, price: ModelPrice | undefined): number | null {
  if (price === undefined) return null;
  const fresh = usage.inputTokens - usage.cachedInputTokens;
  const cachedPrice = price.cachedInputPerMillion ?? price.inputPerMillion;
  const millionths =
    fresh * price.inputPerMillion +
    usage.cachedInputTokens * cachedPrice +
    usage.outputTokens * price.outputPerMillion;
  return millionths / 1_000_000;
}

function requestLength(request: ModelRequest): number {
  let length = 0;
  for (const layer of request.system) length += layer.text.length;
  for (const tool of request.tools ?? []) length += JSON.stringify(tool).length;
  for (const message of request.messages) length += messageLength(message);
  return length;
}

function messageLength(message: ModelMessage): number {
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

function estimateTokensOf(characters: number): number {
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
}
