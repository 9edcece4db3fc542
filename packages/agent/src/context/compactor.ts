import { isDeepStrictEqual } from 'node:util';
import {
  parseCommand,
  splitCommand,
  type TypedCommand,
  toFollowingMessage,
} from '@parley/channels';
import {
  canBeCommand,
  formatCount,
  type InboundMessage,
  type Reader,
  reasonOf,
} from '@parley/core';
import type {
  InboxRow,
  NumberedEntry,
  SnapshotKey,
  StoredSummary,
  SummaryTask,
} from '@parley/store';
import { estimateTokens } from '@parley/workspace';
import { runWithTimeLimit } from '../time.ts';
import type { Turn } from '../turn/turn.ts';
import { getEntryText, type HistoryLimits, type HistoryUsage, isHistoryFull } from './history.ts';
import {
  assertHistoryUnchanged,
  claimSummary,
  countEntryTokens,
  formatSummary,
  HistoryChangedError,
  Summary,
  type SummaryFailureReason,
  type SummaryServices,
  toSummaryKey,
  writeSummary,
} from './summary.ts';

export type Compactor = ReturnType<typeof createCompactor>;

/** Summarizes conversations whose history is full, after the turn that detected this. */
export function createCompactor(deps: CompactionServices) {
  const full = new Map<string, CompactionRequest>();
  const running = new Map<string, Promise<void>>();
  const ended = new AbortController();
  const begin = async (conversationId: string, order: CompactionRequest): Promise<void> => {
    try {
      await compactHistory(deps, order, ended.signal);
    } catch (error) {
      if (ended.signal.aborted) return;
      const facts = { conversation: conversationId, reason: reasonOf(error) };
      deps.log.error(facts, 'could not summarize a conversation; its history is unchanged');
    } finally {
      running.delete(conversationId);
    }
  };
  return {
    /** Records how full a turn's history is. */
    notice(order: Omit<CompactionRequest, 'forced'>, fill: HistoryUsage): void {
      const { conversationId } = order;
      if (isHistoryFull(fill, deps.history)) full.set(conversationId, { ...order, forced: false });
      else full.delete(conversationId);
    },
    /** Starts a summary if the history is full, without waiting for it. */
    afterTurn(conversationId: string): void {
      const order = full.get(conversationId);
      full.delete(conversationId);
      if (order === undefined || running.has(conversationId) || ended.signal.aborted) return;
      running.set(conversationId, begin(conversationId, order));
    },
    /** Summarizes immediately. Throws only the abort reason of `stop`. */
    now: (order: CompactionRequest, stop: AbortSignal) => compactHistory(deps, order, stop),
    async settled(): Promise<void> {
      await Promise.all(running.values());
    },
    /** Aborts running summaries. The next turn detects again that the history is full. */
    async close(): Promise<void> {
      ended.abort(new Error('the worker is stopping'));
      await Promise.all(running.values());
    },
  };
}

/** The result of `/compact`, and the messages that the model still has to answer. */
interface CompactCommandResult {
  readonly notice: string;
  readonly rest: readonly InboxRow[];
}

/**
 * Runs `/compact`. The command goes through the lane like any message, so it is stored, waits for
 * the previous turn and runs in one worker. Returns null if no message contains the command, and
 * `stopped` if `stop` fired.
 */
export async function runCompactCommand(
  compactor: Compactor | undefined,
  { messages, conversationId, session, reader }: Turn,
  stop: AbortSignal,
): Promise<CompactCommandResult | 'stopped' | null> {
  if (compactor === undefined || !messages.some(({ message }) => findCompactCommand(message)))
    return null;
  try {
    const done = await compactor.now({ conversationId, session, reader, forced: true }, stop);
    return { notice: describeCompaction(done), rest: messages.flatMap(removeCompactCommand) };
  } catch (error) {
    if (stop.aborted) return 'stopped';
    throw error;
  }
}

/**
 * Returns the message without `/compact`; text after the command and attached files still need an
 * answer.
 */
export function removeCompactCommand(row: InboxRow): readonly InboxRow[] {
  const command = findCompactCommand(row.message);
  if (command === null) return [row];
  const message = toFollowingMessage(row.message, command, splitCommand(command));
  return message === null ? [] : [{ ...row, message }];
}

/** A message from Parley is a task for the model, even if its text looks like the command. */
function findCompactCommand({ text, trigger, authored }: InboundMessage): TypedCommand | null {
  if (trigger !== undefined || !canBeCommand({ authored })) return null;
  const command = parseCommand(text);
  return command?.command.name === 'compact' ? command : null;
}

function describeCompaction(compaction: Compaction): string {
  switch (compaction.kind) {
    case 'done': {
      const { entries, from, to } = compaction;
      return `I have summarized the older part of our conversation: ${entries} messages and notes (about ${formatCount(from)} tokens) became notes of about ${formatCount(to)} tokens. The newest messages stay as they are.`;
    }
    case 'nothing':
      return compaction.already
        ? 'The older part of our conversation is already summarized, and there is nothing more to summarize yet.'
        : 'There is nothing to summarize yet: our conversation is short.';
    case 'busy':
      return 'I’m already summarizing our conversation.';
    case 'failed':
      return 'I could not summarize our conversation, so everything stays as it is. Please try again later.';
  }
}

/** Entries that a summary is about to replace, with their conversation and reader. */
export interface EntriesToCompact extends SnapshotKey {
  readonly reader: Reader;
  readonly entries: readonly NumberedEntry[];
  /** Sentences that should be remembered and that, according to the model, people wrote. */
  readonly quotes: readonly string[];
}

export interface CompactionServices extends SummaryServices {
  readonly history: HistoryLimits;
  /** The model's context window, in tokens; unlimited when absent. */
  readonly contextTokens?: (() => number) | undefined;
  /** Saves memories before the summary replaces the text. */
  readonly beforeCompact?: ((compacting: EntriesToCompact) => Promise<void>) | undefined;
}

export type Compaction =
  | { readonly kind: 'done'; readonly entries: number; readonly from: number; readonly to: number }
  /**
   * The history is too short to summarize. `already` means that an earlier summary exists, perhaps
   * from just before a crash.
   */
  | { readonly kind: 'nothing'; readonly already: boolean }
  | SummaryFailureReason;

export interface CompactionRequest extends SnapshotKey {
  readonly reader: Reader;
  /**
   * True if a person asked for the summary or there is no other option: even a short history is
   * then summarized, and even soon after a failure.
   */
  readonly forced: boolean;
}

/** The number of turns that stay verbatim; fewer when a person asks. */
const KEEP_TURNS = { wanted: 10, forced: 2 };
/**
 * The share of the history that those turns may take, and the share of the model's context window
 * that one summary may take.
 */
const KEEP_SHARE = 0.3;
const MAX_WINDOW_SHARE = 0.5;
const MIN_TOKENS = { wanted: 400, forced: 1 };
const MAX_ENTRIES = 1_000;
const HOOK_MS = 30_000;

/**
 * Summarizes the older part of a history, in one process at a time (G11). A failure leaves
 * everything unchanged. Throws only the abort reason of `stop`.
 */
async function compactHistory(
  deps: CompactionServices,
  order: CompactionRequest,
  stop: AbortSignal,
): Promise<Compaction> {
  const { reader, conversationId, session, forced } = order;
  const place = toSummaryKey(order, reader);
  const stored = await deps.store.summaries.latest(place);
  const before = Summary.safeParse(stored?.content).data ?? null;
  const after = before === null ? 0 : (stored?.reaches ?? 0);
  const all = await deps.store.transcript.oldestAfter(place, after, MAX_ENTRIES);
  const room = deps.contextTokens?.() ?? Number.POSITIVE_INFINITY;
  const entries = selectOlderEntries(all, splitHistory(deps, before, forced));
  const last = entries.at(-1);
  if (last === undefined) return { kind: 'nothing', already: before !== null };
  const task: SummaryTask = { ...place, kind: 'history', mark: String(after) };
  const work = async (signal: AbortSignal): Promise<StoredSummary> => {
    const wanted = { before, entries, room, quotes: deps.beforeCompact !== undefined };
    const { summary, quotes } = await writeSummary(deps, wanted, signal);
    await saveMemoriesFirst(deps, { reader, conversationId, session, entries, quotes }, signal);
    const latest = await deps.store.summaries.latest(place);
    // If another process stored its summary first, this summary is discarded.
    const isSame = latest?.reaches !== stored?.reaches || isDeepStrictEqual(latest, stored);
    if (!isSame) throw new HistoryChangedError();
    const { transcript } = deps.store;
    assertHistoryUnchanged(entries, await transcript.oldestAfter(place, after, entries.length));
    return { content: summary, reaches: last.seq };
  };
  const done = await claimSummary(deps, task, forced, work, stop);
  if ('kind' in done) return done;
  const from = countTokens(before, entries);
  return {
    kind: 'done',
    entries: entries.length,
    from,
    to: countTokens(Summary.parse(done.content)),
  };
}

function splitHistory(
  { history, contextTokens }: CompactionServices,
  before: Summary | null,
  forced: boolean,
) {
  const how = forced ? 'forced' : 'wanted';
  const room = contextTokens?.() ?? Number.POSITIVE_INFINITY;
  return {
    keepTurns: KEEP_TURNS[how],
    keepTokens: KEEP_SHARE * Math.min(history.tokens, room / 2),
    mostTokens: MAX_WINDOW_SHARE * room - countTokens(before),
    leastTokens: MIN_TOKENS[how],
  };
}

async function saveMemoriesFirst(
  { beforeCompact, log }: CompactionServices,
  compacting: EntriesToCompact,
  stop: AbortSignal,
): Promise<void> {
  if (beforeCompact === undefined) return;
  try {
    await runWithTimeLimit({ ms: HOOK_MS, stop }, () => beforeCompact(compacting));
  } catch (error) {
    stop.throwIfAborted();
    // Otherwise one broken hook would let every conversation grow without bound.
    log.error({ reason: reasonOf(error) }, 'memories could not be saved before the summary');
  }
}

function countTokens(summary: Summary | null, entries: readonly NumberedEntry[] = []): number {
  const texts = [
    ...(summary === null ? [] : [formatSummary(summary)]),
    ...entries.map(getEntryText),
  ];
  return texts.reduce((sum, text) => sum + estimateTokens(text), 0);
}

interface HistorySplitLimits {
  /** The number of turns that stay verbatim if they are short enough. */
  readonly keepTurns: number;
  readonly keepTokens: number;
  readonly mostTokens: number;
  readonly leastTokens: number;
}

/**
 * Returns the oldest entries, up to the end of a turn, that a summary should replace. Empty if
 * there are too few. The newest turn is always kept.
 */
function selectOlderEntries(
  entries: readonly NumberedEntry[],
  { keepTurns, keepTokens, mostTokens, leastTokens }: HistorySplitLimits,
): readonly NumberedEntry[] {
  const begins = entries.flatMap(({ role }, index) =>
    role === 'user' && entries[index - 1]?.role !== 'user' ? [index] : [],
  );
  const costs = entries.map((entry) => estimateTokens(getEntryText(entry)));
  const read = entries.map(countEntryTokens);
  const cost = (from: number, to?: number): number => sumTokens(costs.slice(from, to));
  const last = begins.at(-1) ?? 0;
  const keptFrom =
    begins.slice(-keepTurns).find((begin) => cost(begin) <= keepTokens || begin === last) ?? 0;
  const ends = begins.filter((begin) => begin > 0 && begin <= keptFrom);
  const end =
    ends.findLast((begin) => sumTokens(read.slice(0, begin)) <= mostTokens) ?? ends[0] ?? 0;
  return cost(0, end) < leastTokens ? [] : entries.slice(0, end);
}

function sumTokens(tokens: readonly number[]): number {
  return tokens.reduce((total, one) => total + one, 0);
}
