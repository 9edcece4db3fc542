import type { Clock } from '@parley/core';
import type { ConversationListQuery } from './conversation-views/list.ts';
import type { MessageQuery } from './conversation-views/messages.ts';
import type { SearchQuery } from './conversation-views/search.ts';
import {
  changeMode,
  changeModel,
  lockUndeletedConversation,
  type ModeChange,
} from './conversations.ts';
import type { Database, Sql } from './database.ts';
import { type RewindPoint, type RewindResult, rewindConversation } from './rewind.ts';
import type { ConversationMode } from './rows.ts';
import type { SharedClock } from './shared-clock.ts';
import { type StoppedWork, startSession, stopConversation } from './stop.ts';

/** Actions on a conversation from outside the chat, with the same effect as the chat commands. */
export type ConversationAction =
  | { readonly kind: 'mode'; readonly to: ConversationMode }
  | { readonly kind: 'model'; readonly change: { readonly to: string | null } }
  | { readonly kind: 'new-session' }
  | { readonly kind: 'stop' };

/** How long a search may spend updating its index while a person waits, in ms. */
const SEARCH_BUDGET_MS = 2_000;

/**
 * Conversations in all channels as people see them (U08): the list, the messages and the search.
 * The results contain private text. Except for the search index, this code only reads tables that
 * belong to other files. The queries are loaded on first use.
 */
export function createConversationViews(database: Database, sharedClock: SharedClock) {
  const lists = () => import('./conversation-views/list.ts');
  const page = () => import('./conversation-views/messages.ts');
  return {
    /**
     * Lists conversations, most recently active first. `before` is the `newest` value of the last
     * conversation already listed.
     */
    async list(query: ConversationListQuery) {
      const { listConversations } = await lists();
      return database.read((sql) => listConversations(sql, query, sharedClock()));
    },
    /** Lists the conversations that a person has pinned. */
    async pinned(reader: string) {
      const { listPinnedConversations } = await lists();
      return database.read((sql) => listPinnedConversations(sql, reader, sharedClock()));
    },
    /** Reads one conversation with its model, cost and files; null if it does not exist. */
    async details(id: string, now: number, reader: string | null = null) {
      const { readConversationDetails } = await import('./conversation-views/details.ts');
      return database.read((sql) => readConversationDetails(sql, id, now, sharedClock(), reader));
    },
    /** Lists the people who have recently written in a conversation. */
    async people(id: string) {
      const { readPeople } = await import('./conversation-views/people.ts');
      return database.read((sql) => readPeople(sql, id));
    },
    /** Looks up titles by conversation id, or the reader's own names; unknown ids are left out. */
    async titles(
      ids: readonly string[],
      reader: string | null = null,
    ): Promise<ReadonlyMap<string, string>> {
      const { readConversationTitles } = await lists();
      return database.read((sql) => readConversationTitles(sql, ids, reader));
    },
    async messages(query: MessageQuery) {
      const { readMessages } = await page();
      return database.read((sql) => readMessages(sql, query));
    },
    /**
     * Returns search hits, newest first. `missing` is the number of rows that are not yet indexed.
     */
    async search(query: SearchQuery, clock: Clock, budgetMs = SEARCH_BUDGET_MS) {
      const [{ catchUpIndex }, { searchMessages }] = await Promise.all([
        import('./conversation-views/search-index.ts'),
        import('./conversation-views/search.ts'),
      ]);
      const missing = await catchUpIndex(database, clock, budgetMs);
      const found = await database.read((sql) => searchMessages(sql, database.dialect, query));
      return { ...found, missing };
    },
    /**
     * Has the same effect as the chat command, but does not add a message to the chat. Returns null
     * if the conversation does not exist.
     */
    act: (id: string, action: ConversationAction, now: number): Promise<ActionResult | null> =>
      database.write(async (sql) => {
        if ((await lockUndeletedConversation(sql, id)) === undefined) return null;
        return applyAction(sql, id, action, now);
      }),
    /** Like `/rewind`, but adds no message to the chat (G23). */
    rewind: (id: string, point: RewindPoint, now: number): Promise<RewindResult | null> =>
      database.write(async (sql) => {
        const lane = await lockUndeletedConversation(sql, id);
        if (lane === undefined) return null;
        const place = { id, session: lane.session };
        return rewindConversation(sql, place, point, { by: BY_CONSOLE, now });
      }),
  };
}

/** The result of an action: the changed settings and the stopped work. */
interface ActionResult extends Partial<StoppedWork> {
  readonly mode?: ModeChange;
}

/** Identifies the console in approval records. */
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
