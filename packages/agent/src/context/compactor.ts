import { reasonOf } from '@parley/contracts';
import { type CompactDeps, type Compaction, type CompactionOrder, compact } from './compact.ts';
import { type HistoryFill, isFull } from './history-budget.ts';

/** Sums up histories when they are full, behind the turns that have found them so. */
export interface Compactor {
  /** A turn tells how full it found its history; remembered until that turn is over. */
  notice(order: Omit<CompactionOrder, 'forced'>, fill: HistoryFill): void;
  /** The turn is over: begins if its history is full, and keeps nobody waiting. */
  afterTurn(conversationId: string): void;
  /** Does it now. Throws only what `stop` fired with. */
  now(order: CompactionOrder, stop: AbortSignal): Promise<Compaction>;
  /** Resolves when nothing is under way. */
  settled(): Promise<void>;
  /** Breaks off what is under way; a later turn finds its history full again. */
  close(): Promise<void>;
}

/** Makes the one of a worker. */
export function createCompactor(deps: CompactDeps): Compactor {
  const full = new Map<string, CompactionOrder>();
  const running = new Map<string, Promise<void>>();
  const ended = new AbortController();
  const begin = async (conversationId: string, order: CompactionOrder): Promise<void> => {
    try {
      await compact(deps, order, ended.signal);
    } catch (error) {
      if (ended.signal.aborted) return;
      const facts = { conversation: conversationId, reason: reasonOf(error) };
      deps.log.error(facts, 'a conversation could not be summed up; it stays as it is');
    } finally {
      running.delete(conversationId);
    }
  };
  return {
    notice(order, fill) {
      const { conversationId } = order;
      if (isFull(fill, deps.history)) full.set(conversationId, { ...order, forced: false });
      else full.delete(conversationId);
    },
    afterTurn(conversationId) {
      const order = full.get(conversationId);
      full.delete(conversationId);
      if (order === undefined || running.has(conversationId) || ended.signal.aborted) return;
      running.set(conversationId, begin(conversationId, order));
    },
    now: (order, stop) => compact(deps, order, stop),
    async settled() {
      await Promise.all(running.values());
    },
    async close() {
      ended.abort(new Error('the worker ends'));
      await Promise.all(running.values());
    },
  };
}
