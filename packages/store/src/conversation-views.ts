import type { Clock } from '@parley/core';
import type { ListQuery } from './conversation-views/list.ts';
import type { MessageQuery } from './conversation-views/messages.ts';
import type { SearchQuery } from './conversation-views/search.ts';
import { changeMode, changeModel, lockUndeleted, type ModeChange } from './conversations.ts';
import type { Database, Sql } from './database.ts';
import type { ConversationMode } from './rows.ts';
import type { SharedClock } from './shared-clock.ts';
import { type StoppedWork, startSession, stopConversation } from './stop.ts';

/** What can be done to a conversation from outside it, with the same effect as its commands. */
export type ConversationAction =
  | { readonly kind: 'mode'; readonly to: ConversationMode }
  | { readonly kind: 'model'; readonly change: { readonly to: string | null } }
  | { readonly kind: 'new-session' }
  | { readonly kind: 'stop' };

/** How long a search may spend updating its index while a person waits, in ms. */
const SEARCH_BUDGET_MS = 2_000;

/**
 * The conversations in all channels as people see them (U08): a list, the messages, a search. It
 * shows private text. It reads tables that other files own; only the search index is its own.
 * Loaded on first use.
 */
export function createConversationViews(database: Database, sharedClock: SharedClock) {
  const lists = () => import('./conversation-views/list.ts');
  const page = () => import('./conversation-views/messages.ts');
  return {
    /** Newest first. `before` is the `newest` of the last known conversation. */
    async list(query: ListQuery) {
      const { listConversations } = await lists();
      return database.read((sql) => listConversations(sql, query, sharedClock()));
    },
    /** The conversations that a person has pinned. */
    async pinned(reader: string) {
      const { listPinned } = await lists();
      return database.read((sql) => listPinned(sql, reader, sharedClock()));
    },
    /** One conversation with its model, spend and files; null if it does not exist. */
    async details(id: string, now: number, reader: string | null = null) {
      const { readDetails } = await lists();
      return database.read((sql) => readDetails(sql, id, now, sharedClock(), reader));
    },
    /** The people who have recently written in a conversation. */
    async people(id: string) {
      const { readPeople } = await import('./conversation-views/people.ts');
      return database.read((sql) => readPeople(sql, id));
    },
    /**
     * Titles by conversation id, or the names that the reader gave; unknown ids are left out.
     */
    async titles(
      ids: readonly string[],
      reader: string | null = null,
    ): Promise<ReadonlyMap<string, string>> {
      const { readTitles } = await lists();
      return database.read((sql) => readTitles(sql, ids, reader));
    },
    /** One page of messages. */
    async messages(query: MessageQuery) {
      const { readMessages } = await page();
      return database.read((sql) => readMessages(sql, query));
    },
    /** Hits, newest first. `missing` is the number of rows that are not yet indexed. */
    async search(query: SearchQuery, clock: Clock, budgetMs = SEARCH_BUDGET_MS) {
      const [{ catchUpIndex: catchUp }, { searchMessages }] = await Promise.all([
        import('./conversation-views/search-index.ts'),
        import('./conversation-views/search.ts'),
      ]);
      const missing = await catchUp(database, clock, budgetMs);
      const found = await database.read((sql) => searchMessages(sql, database.dialect, query));
      return { ...found, missing };
    },
    /**
     * Has the same effect as the command, but without a message in the chat. Null if the
     * conversation does not exist.
     */
    act: (id: string, action: ConversationAction, now: number): Promise<ActionResult | null> =>
      database.write(async (sql) => {
        if ((await lockUndeleted(sql, id)) === undefined) return null;
        return applyAction(sql, id, action, now);
      }),
  };
}

/** The result of an action: what it changed, and the work it stopped. */
interface ActionResult extends Partial<StoppedWork> {
  readonly mode?: ModeChange;
}

/** The console's name in the approval records. */
const BY_CONSOLE = 'console:owner';

async function applyAction(
  sql: Sql,
  id: string,
  action: ConversationAction,
  now: number,
): Promise<ActionResult> {
  switch (action.kind) {
    case 'mode':
      return { mode: await changeMode(sql, id, action.to) };
    case 'model':
      await changeModel(sql, id, action.change);
      return {};
    case 'new-session':
      return startSession(sql, id, now);
    case 'stop':
      return stopConversation(sql, id, BY_CONSOLE, now);
  }
}
