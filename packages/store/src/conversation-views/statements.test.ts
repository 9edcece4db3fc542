import { silentLogger } from '@parley/core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Database, IN_MEMORY, type Sql } from '../database.ts';
import { MIGRATIONS, migrate } from '../migrate.ts';
import { openSqlite } from '../sqlite/open-sqlite.ts';
import { createStore, type Store } from '../store.ts';
import { StoreState } from '../store-state.ts';
import {
  claimNextTurn,
  createAnswer,
  createMessage,
  createPart,
  startTurn,
} from '../testing/messages.ts';
import { createTimedIds } from '../timed-ids.ts';
import { watchDatabase } from '../watch-database.ts';

const NOW = 9;

let reads = 0;
let store: Store;
beforeEach(async () => {
  const name = 'a database in memory';
  const database = openSqlite({ path: IN_MEMORY, name });
  await migrate(database, MIGRATIONS, name, () => 0);
  const counted = watchDatabase(
    countReads(database),
    { dialect: 'sqlite', path: IN_MEMORY, name },
    silentLogger,
  );
  const newId = createTimedIds(() => 0);
  const state = new StoreState(counted, { clock: () => 0, newId, forget: [], onSetback() {} });
  store = createStore(counted, newId, { sharedClock: () => 0, state });
});
afterEach(() => store.close());

function countReads(database: Database): Database {
  const counting = (sql: Sql): Sql => ({
    ...sql,
    all: (...query) => {
      reads += 1;
      return sql.all(...query);
    },
    get: (...query) => {
      reads += 1;
      return sql.get(...query);
    },
  });
  return { ...database, read: (work) => database.read((sql) => work(counting(sql))) };
}

/** A conversation with an answered question, a pending approval and, last, a message from a job. */
async function addConversation(nth: number): Promise<void> {
  const chat = `c${nth}`;
  const [lane, turnId] = [`web:${chat}`, `t${nth}`];
  await store.inbox.accept(createMessage('q', chat));
  const { lease } = await startTurn(store, turnId, lane);
  await store.lanes.commit(lease, createAnswer(turnId, ['an answer'], chat), 1);
  await store.inbox.accept(createMessage('again', chat));
  await claimNextTurn(store, lease, `${turnId}b`);
  const call = { callKey: 'k', tool: 'write', shown: '{}', askedBy: 'web:u1', expiresAt: 99 };
  const place = { place: chat, askedIn: lane, approvers: [] };
  const asked = { code: `CODE${nth}`, turnId: `${turnId}b`, ...call, ...place };
  await store.approvals.ask(lease, asked, [createPart('May I?', chat)], 1);
  await store.lanes.release(lease);
  const job = createMessage('j', chat);
  await store.inbox.accept({ ...job, message: { ...job.message, trigger: 'cron' } });
}

/** A turn that answers in the first of the conversations. */
async function addAnswer(nth: number): Promise<void> {
  await store.inbox.accept(createMessage(`q${nth}`, 'long'));
  const { lease } = await startTurn(store, `long${nth}`, 'web:long');
  await store.lanes.commit(lease, createAnswer(`long${nth}`, [`answer ${nth}`], 'long'), 1);
  await store.lanes.release(lease);
}

const VIEWS: Readonly<Record<string, () => Promise<unknown>>> = {
  'the list': () => store.conversations.list({ before: null, limit: 50 }),
  titles: () => store.conversations.titles(Array.from({ length: 20 }, (_, nth) => `web:c${nth}`)),
  'a page of messages': () =>
    store.conversations.messages({
      ...{ conversationId: 'web:long', before: null, until: null, limit: 50 },
    }),
  'a search': () =>
    store.conversations.search(
      { typed: 'answer', before: null, limit: 50, scrub: (text) => text },
      () => NOW,
    ),
  approvals: () => store.approvals.recent(50),
  'waiting approvals': () => store.approvals.waiting(NOW),
};

describe('conversations as people see them', () => {
  it.each(Object.entries(VIEWS))(
    '[U08] need the same number of queries for many rows as for a few: %s',
    async (_, read) => {
      const countQueries = async () => {
        reads = 0;
        await read();
        return reads;
      };
      for (let nth = 0; nth < 2; nth += 1) {
        await addConversation(nth);
        await addAnswer(nth);
      }
      const few = await countQueries();
      for (let nth = 2; nth < 12; nth += 1) {
        await addConversation(nth);
        await addAnswer(nth);
      }
      expect(await countQueries()).toBe(few);
    },
  );
});
