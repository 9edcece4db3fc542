import { type InboundMessage, type Reader, reasonOf } from '@parley/core';
import { ModelError } from '@parley/models';
import type { ClaimedTurn, PinPlace, Store } from '@parley/store';
import { type AgentContext, turnReader } from '../turn-opening.ts';
import { type Compaction, type CompactionOrder, type CompactServices, compact } from './compact.ts';
import { type HistoryFill, type HistoryLimits, isFull, summaryBudget } from './history-budget.ts';
import { type ReadHistory, readHistory } from './summary.ts';

export type Compactor = ReturnType<typeof createCompactor>;

/** Summarizes full histories, after the turns that found them full. */
export function createCompactor(deps: CompactServices) {
  const full = new Map<string, CompactionOrder>();
  const running = new Map<string, Promise<void>>();
  const ended = new AbortController();
  const begin = async (conversationId: string, order: CompactionOrder): Promise<void> => {
    try {
      await compact(deps, order, ended.signal);
    } catch (error) {
      if (ended.signal.aborted) return;
      const facts = { conversation: conversationId, reason: reasonOf(error) };
      deps.log.error(facts, 'a conversation could not be summarized; it stays as it is');
    } finally {
      running.delete(conversationId);
    }
  };
  return {
    /** A turn reports how full its history is; kept until that turn is over. */
    notice(order: Omit<CompactionOrder, 'forced'>, fill: HistoryFill): void {
      const { conversationId } = order;
      if (isFull(fill, deps.history)) full.set(conversationId, { ...order, forced: false });
      else full.delete(conversationId);
    },
    /** Starts if the history is full, without waiting. */
    afterTurn(conversationId: string): void {
      const order = full.get(conversationId);
      full.delete(conversationId);
      if (order === undefined || running.has(conversationId) || ended.signal.aborted) return;
      running.set(conversationId, begin(conversationId, order));
    },
    /** Throws only the reason of `stop`. */
    now: (order: CompactionOrder, stop: AbortSignal) => compact(deps, order, stop),
    async settled(): Promise<void> {
      await Promise.all(running.values());
    },
    /** Aborts running summaries; a later turn finds its history full again. */
    async close(): Promise<void> {
      ended.abort(new Error('the worker ends'));
      await Promise.all(running.values());
    },
  };
}

/** The result of `/compact`, and the rest of its turn. */
interface AskedToCompact {
  readonly notice: string;
  readonly rest: ClaimedTurn | null;
}

/**
 * Runs `/compact`. It comes through the lane like any message, so that it is stored, waits for the turn
 * before it, and is run by one worker. Null where no message asks for it; `stopped` when `stop` fired.
 */
export async function askedToCompact(
  deps: Omit<AgentContext, 'workspace'> & {
    readonly compactor?: Compactor | undefined;
  },
  turn: ClaimedTurn,
  stop: AbortSignal,
): Promise<AskedToCompact | 'stopped' | null> {
  const messages = turn.messages.filter(({ message }) => !isCompact(message));
  if (deps.compactor === undefined || messages.length === turn.messages.length) return null;
  const { conversationId, session } = turn;
  const reader = turnReader(turn, deps);
  const order = { conversationId, session, reader, forced: true };
  try {
    const notice = compactionText(await deps.compactor.now(order, stop));
    return { notice, rest: messages.length === 0 ? null : { ...turn, messages } };
  } catch (error) {
    if (stop.aborted) return 'stopped';
    throw error;
  }
}

/** A message from Parley itself is a task for the model, whatever its text. */
function isCompact({ text, trigger }: InboundMessage): boolean {
  return trigger === undefined && /^\s*\/compact(?:\s|$)/i.test(text);
}

function compactionText(compaction: Compaction): string {
  switch (compaction.kind) {
    case 'done': {
      const { entries, from, to } = compaction;
      return `I have summarized the older part of our conversation: ${entries} messages and notes of about ${shown(from)} tokens are now notes of about ${shown(to)}. The newest messages stay as they are.`;
    }
    case 'nothing':
      return compaction.already
        ? 'The older part of our conversation is summarized, and there is nothing more to summarize yet.'
        : 'There is nothing to summarize yet: our conversation is short.';
    case 'busy':
      return 'I am summing up our conversation already.';
    case 'failed':
      return 'I could not summarize our conversation, so everything stays as it is. Please try again later.';
  }
}

function shown(tokens: number): string {
  return tokens.toLocaleString('en-US');
}

interface RetryOptions {
  readonly store: Pick<Store, 'summaries' | 'transcript'>;
  readonly history: HistoryLimits;
  readonly contextTokens?: (() => number) | undefined;
  readonly compactor?: Compactor | undefined;
}

interface ShorterHistory extends ReadHistory {
  readonly history: HistoryLimits;
  readonly contextTokens: number | undefined;
}

/**
 * Asks, and when the provider reports that the request was too long, summarizes the older part and asks
 * once more with half the room: the known context window was wrong. Throws the errors of the second try.
 */
export async function retryWithLessContext<T>(
  deps: RetryOptions,
  whose: PinPlace & { readonly reader: Reader },
  stop: AbortSignal,
  ask: (shorter: ShorterHistory | undefined) => Promise<T>,
): Promise<T> {
  try {
    return await ask(undefined);
  } catch (error) {
    const isTooLong = error instanceof ModelError && error.failure.kind === 'too-long';
    if (!isTooLong || deps.compactor === undefined) throw error;
    // Whether it succeeds or not: the second try leaves out what does not fit.
    await deps.compactor.now({ ...whose, forced: true }, stop);
    const { entries, tokens } = deps.history;
    const known = deps.contextTokens?.();
    return ask({
      ...(await readHistory(deps.store, whose, whose.reader, entries)),
      // The prompt may take all of half the room; the summary must not vanish for that.
      history: { entries, tokens: Math.floor(tokens / 2), ...leastOf(known) },
      contextTokens: known === undefined ? undefined : Math.floor(known / 2),
    });
  }
}

function leastOf(known: number | undefined): Pick<HistoryLimits, 'least'> {
  return known === undefined ? {} : { least: summaryBudget(known / 2) };
}
