import type { ModelMessage, UserMessage } from '@parley/models';
import type { RememberedEntry } from '@parley/store';
import { estimateTokens, truncateText } from '@parley/workspace';
import { z } from 'zod';

export interface HistoryInput {
  readonly summary: string | null;
  readonly entries: readonly RememberedEntry[];
  /** The newest message, including the context that precedes its text. */
  readonly now: UserMessage;
}

export interface AssembledHistory {
  readonly messages: readonly ModelMessage[];
  readonly fill: HistoryUsage;
  readonly leftOut: number;
}

interface HistoryMessage {
  readonly role: 'user' | 'assistant';
  readonly content: string;
  readonly tokens: number;
}

const Spoken = z.object({ text: z.string() });

const OVERHEAD = 4;
/** A summary shorter than this many tokens would be useless. */
const MIN_NOTES = 100;

/**
 * Fits the past and the newest message into a budget (G11). Messages are kept whole or omitted,
 * oldest first. The newest message is always kept; if it is too long by itself, it is truncated
 * with a note (P10). Neighbors with the same role are joined, because many local chat templates
 * require strict alternation.
 */
export function assembleHistory(parts: HistoryInput, budget: HistoryBudget): AssembledHistory {
  const said = toHistoryMessages(parts.entries);
  const summary = parts.summary === null ? [] : [createHistoryMessage('user', parts.summary)];
  const tokens = sumTokens(summary) + sumTokens(said);
  const opening = summary.flatMap(({ content }) => truncateSummary(content, budget.history));
  const isDropped = opening.length < summary.length;
  const first = findFirstIncluded(said, budget.history - sumTokens(opening));
  const notice =
    first > 0 || isDropped
      ? [createHistoryMessage('user', createOmissionNotice(first, isDropped))]
      : [];
  const isWhole = opening.length === 0 && notice.length === 0;
  const past = isWhole ? said : [...opening, ...notice, ...said.slice(first)];
  const now = {
    ...parts.now,
    content: truncateToTokens(parts.now.content, budget.now, 'this message'),
  };
  return {
    messages: joinMessages(past, now),
    fill: { tokens, entries: parts.entries.length, budget: budget.history },
    leftOut: first,
  };
}

/**
 * A summary that would take all the remaining space is truncated. If there is hardly any space, it
 * is omitted.
 */
function truncateSummary(text: string, budget: number): readonly HistoryMessage[] {
  const whole = createHistoryMessage('user', text);
  if (whole.tokens <= budget) return [whole];
  const share = Math.floor(budget / 2);
  return share < MIN_NOTES
    ? []
    : [createHistoryMessage('user', truncateToTokens(text, share, 'these notes'))];
}

/**
 * Every way in which the oldest messages may have been left out of a history, whatever limits
 * applied: the text before the rest (summary, notice or both), and the rest.
 */
export function* listShortenedPasts({
  summary,
  entries,
}: Pick<HistoryInput, 'summary' | 'entries'>): Generator<
  Pick<HistoryInput, 'summary' | 'entries'>
> {
  for (let from = 1; from <= entries.length; from += 1) {
    if (from < entries.length && entries[from]?.role !== 'user') continue;
    const rest = entries.slice(from);
    const notice = createOmissionNotice(toHistoryMessages(entries.slice(0, from)).length, false);
    yield { summary: summary === null ? notice : `${summary}\n\n${notice}`, entries: rest };
    if (summary !== null) yield { summary: createOmissionNotice(from, true), entries: rest };
  }
}

/** An answer that was not delivered is followed by a system notice about the failure (D05, G08). */
function toHistoryMessages(entries: readonly RememberedEntry[]): readonly HistoryMessage[] {
  const said: HistoryMessage[] = [];
  for (const entry of entries) {
    if (entry.role !== 'user' && entry.role !== 'assistant') continue;
    said.push(createHistoryMessage(entry.role, getEntryText(entry)));
    if (entry.undelivered !== undefined) {
      said.push(createHistoryMessage('user', createUndeliveredNotice(entry.undelivered)));
    }
  }
  return said;
}

/** Returns the text of a transcript entry. Throws if the stored entry has no text. */
export function getEntryText({ content }: Pick<RememberedEntry, 'content'>): string {
  const isSpoken = typeof content === 'object' && content !== null && 'text' in content;
  // Checked by hand, because parsing with the schema would take longer than building the rest of
  // the history.
  return isSpoken && typeof content.text === 'string' ? content.text : Spoken.parse(content).text;
}

function createHistoryMessage(role: HistoryMessage['role'], content: string): HistoryMessage {
  return { role, content, tokens: estimateTokens(content) + OVERHEAD };
}

function sumTokens(said: readonly HistoryMessage[]): number {
  return said.reduce((total, { tokens }) => total + tokens, 0);
}

/**
 * The index of the first history message in the request. The index advances in steps of a quarter
 * of the budget rather than with every message, so that the provider can reuse its prompt cache.
 * The index never points to an answer, whose question would then be missing.
 */
function findFirstIncluded(said: readonly HistoryMessage[], budget: number): number {
  let left = sumTokens(said);
  if (left <= budget) return said[0]?.role === 'assistant' ? skipAnswers(said, 0) : 0;
  const step = Math.max(1, budget / 4);
  let before = 0;
  let fits: number | null = null;
  for (const [index, { role, tokens }] of said.entries()) {
    if (role === 'user' && left <= budget) {
      fits ??= index;
      const crossed =
        Math.floor(before / step) > Math.floor((before - findLastTurn(said, index)) / step);
      if (crossed && left >= budget / 2) return index;
    }
    left -= tokens;
    before += tokens;
  }
  return fits ?? said.length;
}

function findLastTurn(said: readonly HistoryMessage[], index: number): number {
  let from = index - 1;
  while (from > 0 && said[from]?.role !== 'user') from -= 1;
  return sumTokens(said.slice(Math.max(0, from), index));
}

function skipAnswers(said: readonly HistoryMessage[], from: number): number {
  const next = said.findIndex(({ role }, index) => index >= from && role === 'user');
  return next === -1 ? said.length : next;
}

function joinMessages(past: readonly HistoryMessage[], now: UserMessage): ModelMessage[] {
  const messages: (UserMessage | Pick<HistoryMessage, 'role' | 'content'>)[] = [];
  const add = (next: UserMessage | Pick<HistoryMessage, 'role' | 'content'>): void => {
    const last = messages.at(-1);
    // Older messages have no pictures, so only the fields of the newest message are kept.
    if (last?.role === next.role)
      messages[messages.length - 1] = { ...next, content: `${last.content}\n\n${next.content}` };
    else messages.push(next);
  };
  for (const { role, content } of past) add({ role, content });
  add(now);
  return messages;
}

function createOmissionNotice(count: number, isDropped: boolean): string {
  if (isDropped)
    return '[The earlier part of this conversation cannot be shown: there is no room for it.]';
  const messages = count === 1 ? 'One earlier message' : `${count} earlier messages`;
  return `[${messages} of this conversation cannot be shown: there is no room for more.]`;
}

function createUndeliveredNotice(reason: string): string {
  return `⚙️ Part of your last answer may not have reached this chat: ${reason}`;
}

export interface HistoryLimits {
  readonly entries: number;
  readonly tokens: number;
  /** The minimum for the past, used even if the prompt seems to leave no space; 0 when absent. */
  readonly least?: number;
}

interface RequestSize {
  /** The system prompt, the tools, and the turn's rounds so far. */
  readonly fixed: number;
  /** The newest message, including the context that precedes its text. */
  readonly now: number;
}

export interface HistoryBudget {
  readonly history: number;
  readonly now: number;
}

/** The largest number of tokens reserved for an answer. */
const MAX_ANSWER = 4_096;

/**
 * Divides the context window: first the prompt and space for an answer, then the newest message;
 * the past gets the rest, up to its own limit. The sender is not responsible for a prompt that
 * leaves no space, so the newest message always gets a quarter.
 */
export function computeHistoryBudget(
  contextTokens: number,
  size: RequestSize,
  limits: Pick<HistoryLimits, 'tokens' | 'least'>,
): HistoryBudget {
  if (contextTokens === Number.POSITIVE_INFINITY) {
    return { now: contextTokens, history: limits.tokens };
  }
  const answer = Math.min(MAX_ANSWER, Math.floor(contextTokens / 8));
  const room = contextTokens - answer - size.fixed;
  const now = Math.max(room, Math.floor(contextTokens / 4));
  // Rounded up, so that a short message does not shift the beginning of the past.
  const left = room - Math.min(Math.max(size.now, Math.floor(contextTokens / 16)), now);
  return { now, history: Math.max(limits.least ?? 0, Math.min(limits.tokens, left)) };
}

/**
 * The budget for tool results, in tokens, given `fixed` (which excludes them) and the newest
 * message. Without this budget, the provider would refuse a turn with too many tool results.
 */
export function computeRoundsBudget(contextTokens: number, { fixed, now }: RequestSize): number {
  const answer = Math.min(MAX_ANSWER, contextTokens / 8);
  return Math.max(0, Math.floor(contextTokens - answer - fixed - Math.min(now, contextTokens / 4)));
}

const MAX_SUMMARY = 1_500;

/**
 * The budget for a summary, in tokens. The budget leaves space for the messages since the summary.
 */
export function computeSummaryBudget(contextTokens: number): number {
  return Math.min(MAX_SUMMARY, Math.floor(contextTokens / 8));
}

export interface HistoryUsage {
  /** The size of everything since the last summary, including that summary, in tokens. */
  readonly tokens: number;
  readonly entries: number;
  readonly budget: number;
}

/**
 * The share of its budget at which the older part of a history is summarized. The share is low
 * enough that no message has to be omitted before the summary is written, so requests between two
 * summaries share a prefix, which providers cache.
 */
const FULL = 0.7;

export function isHistoryFull(
  { tokens, entries, budget }: HistoryUsage,
  limits: HistoryLimits,
): boolean {
  return tokens > FULL * budget || entries > FULL * limits.entries;
}

interface RequestContent {
  readonly system: readonly { readonly tokens: number }[];
  readonly tools: { readonly tokens: number };
  readonly rounds: readonly ModelMessage[];
  readonly now: UserMessage;
}

/** The approximate size of one picture, in tokens. */
const PICTURE = 1_000;

export function measureRequest({ system, tools, rounds, now }: RequestContent): RequestSize {
  const prompt = system.reduce((sum, { tokens }) => sum + tokens, tools.tokens);
  const fixed = rounds.flatMap(listTexts).reduce((sum, text) => sum + estimateTokens(text), prompt);
  return { fixed: fixed + estimatePictureTokens(now), now: estimateTokens(now.content) };
}

function estimatePictureTokens(message: ModelMessage): number {
  return message.role === 'user' ? (message.images?.length ?? 0) * PICTURE : 0;
}

/** The estimated size of a message in tokens, including its pictures and calls. */
export function estimateMessageTokens(message: ModelMessage): number {
  return computeMessageTokens(message) + estimatePictureTokens(message);
}

/** Everything in a message that costs tokens: its content and the arguments of its calls. */
export function listTexts(message: ModelMessage): readonly string[] {
  const calls = message.role === 'assistant' ? (message.toolCalls ?? []) : [];
  return [message.content, ...calls.map((call) => call.arguments)];
}

/**
 * Truncates a text to a number of tokens, with a note if anything was cut (P10). `what` names the
 * text in that note.
 */
export function truncateToTokens(text: string, budget: number, what: string): string {
  const tokens = estimateTokens(text);
  if (tokens <= budget) return text;
  // The cut position is an estimate, because characters differ in cost.
  let length = Math.floor((text.length * budget) / tokens);
  while (length > 0 && estimateTokens(text.slice(0, length)) > budget) {
    length = Math.floor(length * 0.9);
  }
  return truncateText(text, length, what).text;
}

/** The part of a result that is always kept, in tokens. */
const MIN_RESULT_TOKENS = 50;
/**
 * The maximum length of a last line that is always kept, in characters; this line may close a frame
 * around untrusted text.
 */
const MAX_LAST_LINE = 200;

/** The maximum length of arguments that are always kept, in tokens. */
const SHORT_ARGUMENTS = 200;

/**
 * Fits a turn's rounds into a token budget. The longest tool results are truncated to a common
 * length, with a note. If that is not enough, long call arguments are omitted. The model's own text
 * and the stored journal are unchanged.
 */
export function truncateRounds(
  messages: readonly ModelMessage[],
  budget: number,
): readonly ModelMessage[] {
  const sizes = messages.map(computeMessageTokens);
  const all = sizes.reduce((sum, size) => sum + size, 0);
  if (all <= budget) return messages;
  const results = messages.flatMap((message, at) =>
    message.role === 'tool' ? [sizes[at] ?? 0] : [],
  );
  const others = all - results.reduce((sum, size) => sum + size, 0);
  const limit = Math.max(MIN_RESULT_TOKENS, computeCommonLimit(results, budget - others));
  const fitted = messages.map((message, at) =>
    message.role === 'tool' && (sizes[at] ?? 0) > limit
      ? { ...message, content: shortenResult(message.content, limit) }
      : message,
  );
  const size = fitted.reduce((sum, message) => sum + computeMessageTokens(message), 0);
  return size <= budget ? fitted : fitted.map(shortenCalls);
}

/** Arguments remain an object, because providers require one. */
function shortenCalls(message: ModelMessage): ModelMessage {
  if (message.role !== 'assistant' || message.toolCalls === undefined) return message;
  const toolCalls = message.toolCalls.map((call) => {
    if (estimateTokens(call.arguments) <= SHORT_ARGUMENTS) return call;
    const note = `${call.arguments.length} characters of arguments are left out because there is no room for them.`;
    return { ...call, arguments: JSON.stringify({ note }) };
  });
  return { ...message, toolCalls };
}

function computeMessageTokens(message: ModelMessage): number {
  return listTexts(message).reduce((sum, text) => sum + estimateTokens(text), 0);
}

/** The length to which the longest items must be truncated so that all fit. */
function computeCommonLimit(sizes: readonly number[], room: number): number {
  let left = room;
  for (const [at, size] of sizes.toSorted((a, b) => a - b).entries()) {
    const each = Math.floor(left / (sizes.length - at));
    if (size > each) return each;
    left -= size;
  }
  return left;
}

function shortenResult(text: string, tokens: number): string {
  const end = text.lastIndexOf('\n');
  const lastLine = end === -1 ? '' : text.slice(end);
  if (lastLine.length > MAX_LAST_LINE) return truncateToTokens(text, tokens, 'this result');
  const room = Math.max(0, tokens - estimateTokens(lastLine));
  return `${truncateToTokens(text.slice(0, text.length - lastLine.length), room, 'this result')}${lastLine}`;
}
