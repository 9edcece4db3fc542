import type { ModelMessage, UserMessage } from '@parley/models';
import type { RememberedEntry } from '@parley/store';
import { estimateTokens } from '@parley/workspace';
import { z } from 'zod';
import { fitText, type HistoryBudget, type HistoryFill } from './history-budget.ts';

export interface HistoryParts {
  /** The summary of everything before the entries; null where there is none. */
  readonly summary: string | null;
  readonly entries: readonly RememberedEntry[];
  /** The newest message, with the context before it. */
  readonly now: UserMessage;
}

export interface AssembledHistory {
  readonly messages: readonly ModelMessage[];
  readonly fill: HistoryFill;
  readonly leftOut: number;
}

interface Said {
  readonly role: 'user' | 'assistant';
  readonly content: string;
  readonly tokens: number;
}

const Spoken = z.object({ text: z.string() });

const OVERHEAD = 4;
/** Fewer tokens of a summary say nothing. */
const LEAST_NOTES = 100;

/**
 * The past and the newest message within a budget (G11). Messages are whole or left out, the oldest
 * first; the newest always stays, cut with a notice where it alone is too long (P10). Neighbours with
 * the same role are joined, because many local chat templates insist on strict alternation.
 */
export function assembleHistory(parts: HistoryParts, budget: HistoryBudget): AssembledHistory {
  const said = saidIn(parts.entries);
  const summary = parts.summary === null ? [] : [asSaid('user', parts.summary)];
  const tokens = sum(summary) + sum(said);
  const opening = summary.flatMap(({ content }) => summaryWithin(content, budget.history));
  const isDropped = opening.length < summary.length;
  const first = firstShown(said, budget.history - sum(opening));
  const notice = first > 0 || isDropped ? [asSaid('user', leftOutNotice(first, isDropped))] : [];
  const isWhole = opening.length === 0 && notice.length === 0;
  const past = isWhole ? said : [...opening, ...notice, ...said.slice(first)];
  const now = { ...parts.now, content: fitText(parts.now.content, budget.now, 'this message') };
  return {
    messages: joined(past, now),
    fill: { tokens, entries: parts.entries.length, budget: budget.history },
    leftOut: first,
  };
}

/** Notes that would take all the room are cut rather than left out; where there is hardly any, they are. */
function summaryWithin(text: string, budget: number): readonly Said[] {
  const whole = asSaid('user', text);
  if (whole.tokens <= budget) return [whole];
  const share = Math.floor(budget / 2);
  return share < LEAST_NOTES ? [] : [asSaid('user', fitText(text, share, 'these notes'))];
}

/** What the entries say, and after each whether that reached the chat, as the system reports (D05, G08). */
function saidIn(entries: readonly RememberedEntry[]): readonly Said[] {
  const said: Said[] = [];
  for (const entry of entries) {
    if (entry.role !== 'user' && entry.role !== 'assistant') continue;
    said.push(asSaid(entry.role, entryText(entry)));
    if (entry.undelivered !== undefined) {
      said.push(asSaid('user', undeliveredNotice(entry.undelivered)));
    }
  }
  return said;
}

/** The text of an entry of the transcript. Throws where the stored entry has none. */
export function entryText({ content }: Pick<RememberedEntry, 'content'>): string {
  const isSpoken = typeof content === 'object' && content !== null && 'text' in content;
  // A schema would take longer than the rest of the history.
  return isSpoken && typeof content.text === 'string' ? content.text : Spoken.parse(content).text;
}

function asSaid(role: Said['role'], content: string): Said {
  return { role, content, tokens: estimateTokens(content) + OVERHEAD };
}

function sum(said: readonly Said[]): number {
  return said.reduce((total, { tokens }) => total + tokens, 0);
}

/**
 * The first message that is shown. It moves on in steps of a quarter of the budget rather than with
 * every message, so that a provider can use what it has read already; and never to an answer, which
 * would have lost its question.
 */
function firstShown(said: readonly Said[], budget: number): number {
  let left = sum(said);
  if (left <= budget) return said[0]?.role === 'assistant' ? afterAnswers(said, 0) : 0;
  const step = Math.max(1, budget / 4);
  let before = 0;
  let fits: number | null = null;
  for (const [index, { role, tokens }] of said.entries()) {
    if (role === 'user' && left <= budget) {
      fits ??= index;
      const crossed =
        Math.floor(before / step) > Math.floor((before - lastTurn(said, index)) / step);
      if (crossed && left >= budget / 2) return index;
    }
    left -= tokens;
    before += tokens;
  }
  return fits ?? said.length;
}

function lastTurn(said: readonly Said[], index: number): number {
  let from = index - 1;
  while (from > 0 && said[from]?.role !== 'user') from -= 1;
  return sum(said.slice(Math.max(0, from), index));
}

function afterAnswers(said: readonly Said[], from: number): number {
  const next = said.findIndex(({ role }, index) => index >= from && role === 'user');
  return next === -1 ? said.length : next;
}

function joined(past: readonly Said[], now: UserMessage): ModelMessage[] {
  const messages: (UserMessage | Pick<Said, 'role' | 'content'>)[] = [];
  const add = (next: UserMessage | Pick<Said, 'role' | 'content'>): void => {
    const last = messages.at(-1);
    // Only the newest message has pictures, so it is the one whose other fields are kept.
    if (last?.role === next.role)
      messages[messages.length - 1] = { ...next, content: `${last.content}\n\n${next.content}` };
    else messages.push(next);
  };
  for (const { role, content } of past) add({ role, content });
  add(now);
  return messages;
}

function leftOutNotice(count: number, isDropped: boolean): string {
  if (isDropped)
    return '[The earlier part of this conversation cannot be shown: there is no room for it.]';
  const messages = count === 1 ? 'One earlier message' : `${count} earlier messages`;
  return `[${messages} of this conversation cannot be shown: there is no room for more.]`;
}

function undeliveredNotice(reason: string): string {
  return `⚙️ Not all of your last answer was certain to reach this chat: ${reason}`;
}
