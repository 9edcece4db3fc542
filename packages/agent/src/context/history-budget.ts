import type { ModelMessage, UserMessage } from '@parley/models';
import { cutText, estimateTokens } from '@parley/workspace';

export interface HistoryLimits {
  readonly entries: number;
  readonly tokens: number;
  /** What it gets at least, also where the prompt seems to leave no room; nothing when absent. */
  readonly least?: number;
}

interface RequestSize {
  /** System prompt, tools, and what the turn has done so far. */
  readonly fixed: number;
  /** The newest message, with the context before it. */
  readonly now: number;
}

export interface HistoryBudget {
  readonly history: number;
  readonly now: number;
}

/** Largest room that is kept free for an answer, in tokens. */
const LONGEST_ANSWER = 4_096;

/**
 * Divides what a model can take: first the prompt and room for an answer, then the newest message, and
 * the past gets what is left, up to its own limit. A prompt that leaves no room is not the fault of the
 * person who writes, so that the newest message always has a quarter.
 */
export function historyBudget(
  contextTokens: number,
  size: RequestSize,
  limits: Pick<HistoryLimits, 'tokens' | 'least'>,
): HistoryBudget {
  if (contextTokens === Number.POSITIVE_INFINITY) {
    return { now: contextTokens, history: limits.tokens };
  }
  const answer = Math.min(LONGEST_ANSWER, Math.floor(contextTokens / 8));
  const room = contextTokens - answer - size.fixed;
  const now = Math.max(room, Math.floor(contextTokens / 4));
  // A short message must not move the beginning of the past about.
  const left = room - Math.min(Math.max(size.now, Math.floor(contextTokens / 16)), now);
  return { now, history: Math.max(limits.least ?? 0, Math.min(limits.tokens, left)) };
}

/**
 * What the results of tools may cost of what is left beside `fixed` (without them) and the newest message,
 * in tokens: a turn that has read too much must not be refused for it.
 */
export function roundsBudget(contextTokens: number, { fixed, now }: RequestSize): number {
  const answer = Math.min(LONGEST_ANSWER, contextTokens / 8);
  return Math.max(0, Math.floor(contextTokens - answer - fixed - Math.min(now, contextTokens / 4)));
}

const LONGEST_SUMMARY = 1_500;

/** What a summary may cost, in tokens: it must leave room for what was said since. */
export function summaryBudget(contextTokens: number): number {
  return Math.min(LONGEST_SUMMARY, Math.floor(contextTokens / 8));
}

export interface HistoryFill {
  /** Of all there is since the last summary, that summary included; in tokens. */
  readonly tokens: number;
  readonly entries: number;
  readonly budget: number;
}

/**
 * Share of its budget from which the older part of a past is summarized: before messages have to be left out, so
 * that requests between two summaries have the same beginning, which providers cache.
 */
const FULL = 0.7;

export function isFull({ tokens, entries, budget }: HistoryFill, limits: HistoryLimits): boolean {
  return tokens > FULL * budget || entries > FULL * limits.entries;
}

interface RequestPieces {
  readonly system: readonly { readonly tokens: number }[];
  readonly tools: { readonly tokens: number };
  readonly rounds: readonly ModelMessage[];
  readonly now: UserMessage;
}

/** What one picture costs, about, in tokens. */
const PICTURE = 1_000;

export function requestSize({ system, tools, rounds, now }: RequestPieces): RequestSize {
  const prompt = system.reduce((sum, { tokens }) => sum + tokens, tools.tokens);
  const fixed = rounds.flatMap(textsIn).reduce((sum, text) => sum + estimateTokens(text), prompt);
  return { fixed: fixed + pictureTokens(now), now: estimateTokens(now.content) };
}

function pictureTokens(message: ModelMessage): number {
  return message.role === 'user' ? (message.images?.length ?? 0) * PICTURE : 0;
}

/** What a message costs, its pictures and calls included; an estimate. */
export function messageTokens(message: ModelMessage): number {
  return sizeOf(message) + pictureTokens(message);
}

function textsIn(message: ModelMessage): readonly string[] {
  const calls = message.role === 'assistant' ? (message.toolCalls ?? []) : [];
  return [message.content, ...calls.map((call) => call.arguments)];
}

/** A text within so many tokens, with a notice where it was cut (P10); `what` names it for the reader. */
export function fitText(text: string, budget: number, what: string): string {
  const tokens = estimateTokens(text);
  if (tokens <= budget) return text;
  // The estimate is by characters, which do not all cost the same.
  let length = Math.floor((text.length * budget) / tokens);
  while (length > 0 && estimateTokens(text.slice(0, length)) > budget) {
    length = Math.floor(length * 0.9);
  }
  return cutText(text, length, what).text;
}

/** What is left of a result at least, in tokens. */
const LEAST = 50;
/** A last line up to this length stays, in characters: it may be the end of a frame around foreign text. */
const LONGEST_LAST_LINE = 200;

/**
 * What a turn has done so far within a budget of tokens: the longest results of tools are cut, all to the
 * same length, and say so. Calls, and what the model said itself, stay as they are. The journal keeps all.
 */
export function fitRounds(
  messages: readonly ModelMessage[],
  budget: number,
): readonly ModelMessage[] {
  const sizes = messages.map(sizeOf);
  const all = sizes.reduce((sum, size) => sum + size, 0);
  if (all <= budget) return messages;
  const results = messages.flatMap((message, at) =>
    message.role === 'tool' ? [sizes[at] ?? 0] : [],
  );
  const others = all - results.reduce((sum, size) => sum + size, 0);
  const limit = Math.max(LEAST, commonLimit(results, budget - others));
  return messages.map((message, at) =>
    message.role === 'tool' && (sizes[at] ?? 0) > limit
      ? { ...message, content: shortened(message.content, limit) }
      : message,
  );
}

function sizeOf(message: ModelMessage): number {
  return textsIn(message).reduce((sum, text) => sum + estimateTokens(text), 0);
}

/** The length to which the longest must come down so that all have room together. */
function commonLimit(sizes: readonly number[], room: number): number {
  let left = room;
  for (const [at, size] of sizes.toSorted((a, b) => a - b).entries()) {
    const each = Math.floor(left / (sizes.length - at));
    if (size > each) return each;
    left -= size;
  }
  return left;
}

function shortened(text: string, tokens: number): string {
  const end = text.lastIndexOf('\n');
  const lastLine = end === -1 ? '' : text.slice(end);
  if (lastLine.length > LONGEST_LAST_LINE) return fitText(text, tokens, 'this result');
  const room = Math.max(0, tokens - estimateTokens(lastLine));
  return `${fitText(text.slice(0, text.length - lastLine.length), room, 'this result')}${lastLine}`;
}
