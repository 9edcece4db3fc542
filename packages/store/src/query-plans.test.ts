import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { silentLogger } from '@parley/core';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { getStatementText, orderValues } from './database.ts';
import { CHATS } from './inbox-reads.ts';
import type { LinkAction } from './links.ts';
import { MIGRATIONS, migrate } from './migrate.ts';
import { openSqlite } from './sqlite/open-sqlite.ts';
import { createStore, type Store } from './store.ts';
import { StoreState } from './store-state.ts';
import { listBothDatabases } from './testing/databases.ts';
import {
  claimNextTurn,
  createAnswer,
  createMessage,
  createPart,
  createTestRoute,
  runTurnWork,
  startTurn,
} from './testing/messages.ts';
import { createTimedIds } from './timed-ids.ts';
import { watchDatabase } from './watch-database.ts';

/**
 * Indexes that may be scanned completely: those that contain only unfinished work, recent prompts
 * or used memories, those that serve a sum, and the index of all conversations, which is scanned
 * once when a process with exclusive use of the data folder starts.
 */
const MAY_BE_READ_WHOLE =
  /^SCAN (inbox USING (COVERING )?INDEX inbox_(waiting|owner)|attachment USING (COVERING )?INDEX attachment_(pending|kept|view_once)|turn USING (COVERING )?INDEX turn_running|approval USING INDEX approval_due|outbox USING (COVERING INDEX outbox_state|INDEX outbox_unfinished)|dead_letter USING (COVERING )?INDEX dead_letter_(open|subject)|turn_prompt USING (COVERING )?INDEX turn_prompt_age|conversation|memory_entry USING COVERING INDEX memory_entry_used)$/;

describe("every query's plan", () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-plans-'));
  const path = join(folder, 'parley.db');
  const queries = new Set<string>();
  const deleting = new Set<string>();
  let isDeleting = false;
  let look: DatabaseSync;
  beforeAll(async () => {
    const onQuery = (text: string) => (isDeleting ? deleting : queries).add(text);
    const database = openSqlite({ path, name: path, onQuery });
    await migrate(database, MIGRATIONS, path, () => 0);
    queries.clear();
    const watched = watchDatabase(database, { dialect: 'sqlite', path, name: path }, silentLogger);
    const newId = createTimedIds(() => 0);
    const own = { clock: () => 0, newId, forget: [], onSetback: () => {} };
    const state = new StoreState(watched, own);
    const store = createStore(watched, newId, { sharedClock: () => 0, state });
    await state.advance();
    await state.check((work) => watched.write(work));
    await state.lastSetback();
    await useEverything(store);
    await runTurnWork(store);
    await useRetention(store);
    isDeleting = true;
    await store.forgetting.deleteConversation({
      ...{ conversationId: 'web:c6', by: 'Ann', now: 1 },
      onStopped() {},
    });
    await store.close();
    look = new DatabaseSync(path);
  });
  afterAll(() => {
    look.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('uses an index, so that lookups do not slow down as the history grows', () => {
    const tables = new Set([
      'inbox',
      'attachment',
      'outbox',
      'dead_letter',
      'turn',
      'turn_step',
      'transcript',
      'conversation',
      'adapter_state',
      'group_context',
      'allowed_sender',
      'ingress_decision',
      'person_link',
      'prompt_text',
      'turn_prompt',
      'approval',
      'sub_agent',
      'summary',
      'session_snapshot',
      'todo_list',
      'spend',
      'memory_entry',
    ]);
    const scans = [...queries]
      .filter((text) => /^(select|update|delete|insert|with)/.test(text))
      .flatMap((text) => planOf(look, text).map((detail) => ({ text, detail })))
      .filter(({ detail }) => tables.has(detail.match(/^SCAN (\w+)/)?.[1] ?? ''))
      .filter(({ detail, text }) => !MAY_BE_READ_WHOLE.test(detail) && !isFirstFew(look, text));
    expect(scans).toEqual([]);
    expect(queries.size).toBeGreaterThan(25);
  });

  it('[D05] finds unsent parts of a chat without scanning sent ones', () => {
    const [first] = [...queries].filter((text) => text.includes('as goes_on'));
    expect(planOf(look, first ?? '')[0]).toMatch(/^SEARCH outbox USING INDEX outbox_unfinished/);
  });

  it("[U12] deletes a conversation without scanning other conversations' parts", () => {
    const ofParts = [...deleting].filter(
      (text) => text.includes('outbox') && text.includes('as other'),
    );
    expect(ofParts.length).toBeGreaterThan(3);
    const steps = ofParts.flatMap((text) => planOf(look, text));
    const scans = /^SCAN (outbox|dead_letter|agent_file)|^SEARCH outbox .*\(rowid<\?\)/;
    expect(steps.filter((step) => scans.test(step))).toEqual([]);
    expect(steps).toContainEqual(expect.stringMatching(/^SEARCH outbox USING INDEX outbox_chat/));
  });

  it('[U08] lists chats by stepping from one chat to the next instead of reading their messages', () => {
    const [chats] = [...queries].filter((text) => text.includes('with recursive chat'));
    const steps = planOf(look, chats ?? '').filter((detail) => /(in|out)box/.test(detail));
    expect(steps.length).toBeGreaterThan(4);
    for (const step of steps)
      expect(step).toMatch(/^SEARCH (in|out)box USING (COVERING )?INDEX (in|out)box_chat/);
  });
});

const [, postgres] = listBothDatabases(inject('postgresUrl'));

describe.runIf(postgres?.available)('query plans on PostgreSQL', () => {
  afterAll(() => postgres?.dispose());

  it('[U08] reads a few rows per chat to list chats, even in a chat with many messages', async () => {
    const store = await postgres?.openEmpty();
    await store?.inbox.accept(createMessage('m1'));
    await store?.inbox.accept(createMessage('m2', 'c2'));
    const client = new Client({ connectionString: postgres?.url() });
    await client.connect();
    const others = 'conversation_id, account, chat_id, message, route, received_at, state';
    for (const channel of ['web', 'telegram']) {
      await client.query(`insert into inbox (${others}, channel, message_id)
        select ${others}, '${channel}', message_id || n from inbox, generate_series(1, 2000) n
        where message_id in ('m1', 'm2')`);
    }
    await client.query('analyze inbox');
    const values = orderValues(CHATS, [{ ...createTestRoute('c1'), limit: 9 }]);
    const plan = await client.query(
      `explain (analyze) ${getStatementText('postgres', CHATS)}`,
      values,
    );
    await client.end();
    const lines = plan.rows.map((row) => String(row['QUERY PLAN']));
    const scans = lines.filter((line) => / Scan .*on (inbox|outbox)/.test(line));
    expect(scans.length).toBeGreaterThan(6);
    expect(scans.filter((line) => !/ using (in|out)box_ch/.test(line))).toEqual([]);
    expect(scans.filter((line) => !/(actual .*rows=[01]\b|never executed)/.test(line))).toEqual([]);
    expect(lines.filter((line) => /Removed by Filter: \d\d|Seq Scan/.test(line))).toEqual([]);
  });
});

/** A query stops at its limit if rows or an index are already in the requested order. */
function isFirstFew(database: DatabaseSync, text: string): boolean {
  // This query reads the last row of each table, one after another.
  if (text.includes('as newest_of_each')) return true;
  const isCut = !text.includes(' where ') && /order by [\w", ]+ limit (\?|\+\?1)$/.test(text);
  return isCut && !planOf(database, text).some((detail) => detail.includes('B-TREE FOR ORDER BY'));
}

function planOf(database: DatabaseSync, text: string): string[] {
  const rows = database.prepare(`explain query plan ${text}`).all();
  return rows.map((row) => String(row.detail));
}

async function useEverything(store: Store): Promise<void> {
  await useAttachments(store);
  await usePrompts(store);
  const chat = createTestRoute('c1');
  for (const id of ['m1', 'm2', 'm3']) await store.inbox.accept(createMessage(id));
  const heard = { messageId: 'g', senderId: 'u', senderName: 'Bo', text: 'g' };
  await store.groupContext.keep({ ...chat, conversationId: 'web:c1' }, heard, 0);
  await store.reactions.keep({ ...chat, conversationId: 'web:c1' }, { ...heard, sentAt: 0 }, 0);
  await store.reactions.message({ ...chat, messageId: 'unknown' });
  await store.inbox.revise({ ...chat, messageId: 'g' }, createMessage('g').message);
  await store.inbox.revise({ ...chat, messageId: 'g0' }, null);
  const refused = { senderId: 'u', outcome: 'refused', reason: 'x', at: 0 } as const;
  await store.decisions.record({ ...chat, ...refused, messageId: 'r' });
  await store.why.answeredBy('web:c1', 0);
  await store.inbox.ownerRoute();
  await store.inbox.ownerChats();
  await store.inbox.typedCommands();
  const link = (id: string, personId: string, action: LinkAction) =>
    store.inbox.command(createMessage(id), (command) =>
      command.link({ personId, isOwner: true }, action),
    );
  await link('l1', 'a:1', { kind: 'make', code: 'LINK' });
  await link('l2', 'b:1', { kind: 'type', code: 'LINK' });
  await link('l3', 'a:1', { kind: 'type', code: 'LINK' });
  await link('l4', 'a:1', { kind: 'leave', personId: 'b:1' });
  await store.links.of('a:1');
  const applicant = { ...chat, senderId: 'u', senderName: 'Bo', route: chat };
  await store.pairing.request(applicant, 'CODE', [createPart('code')], 0);
  await store.pairing.pending(0);
  await store.pairing.approve('CODE', () => [], 0);
  await store.pairing.settle('web', 'u');
  await store.pairing.isAllowed('web', 'default', 'u');
  await store.inbox.command(createMessage('m0'), (command) => command.pair('CODE'));
  const { lease } = await startTurn(store, 't1', 'web:c1', 'w1', 'followup');
  const other = { conversationId: 'web:c1', owner: 'w2', leaseMs: 1 };
  await store.lanes.begin(other, 'collect', 'unused', 0);
  await store.lanes.renew([lease], 9);
  await store.lanes.newestWaiting('web:c1');
  await store.turns.appendStep(lease, 't1', { index: 0, content: 0 }, 0);
  await claimNextTurn(store, lease, 't1', 'followup');
  const joining = { turnId: 't1', mode: undefined, mayJoin: () => true };
  await store.lanes.join(lease, { ...joining, steps: () => [{ index: 1, content: 0 }] }, 0);
  await store.inbox.accept(createMessage('m6'));
  await store.lanes.interrupt(lease, 't1', 0);
  await claimNextTurn(store, lease, 't1a', { direct: 'collect' });
  await store.lanes.commit(lease, createAnswer('t1a', ['a', 'b', 'c']), 0);
  await store.inbox.accept(createMessage('m7'));
  await claimNextTurn(store, lease, 't2', 'collect');
  await store.inbox.command(createMessage('m4'), async (command) => {
    await command.stop();
    command.answer(createPart('stopped'));
  });
  await store.inbox.command(createMessage('m5'), (command) => command.startSession());
  const { message: typed, ...pressed } = createMessage('m8');
  const press = { ...pressed, message: { ...typed, pressed: 'p1' } };
  await store.inbox.command(press, (command) => command.pressCounts());
  await store.outbox.ownAnswers({ conversationId: 'web:c1', route: createTestRoute('c1') }, 5);
  await store.lanes.release(lease);
  await store.lanes.withWork(5, 10_000);
  await store.lanes.releaseAll();
  await store.turns.totals(0);
  await store.transcript.recent('web:c1', 0, 5);
  await store.inbox.waiting('web:c1');
  await store.inbox.totalWaiting();
  await store.inbox.recent(chat, 5);
  await store.inbox.chats(chat, 5);
  await store.turns.calls(['t1']);
  for (const finish of [
    (id: string) => store.outbox.retryLater(id, { now: 0, afterMs: 0 }, 'x', 'free'),
    (id: string) => store.outbox.markSent(id, 'p', 0),
    (id: string) => store.outbox.markFailed(id, 'failed', 'x', 0, createPart('notice')),
  ]) {
    const id = (await store.outbox.next(chat))?.part.id ?? '';
    await store.outbox.markSending(id, 0);
    await finish(id);
    await finish(id);
  }
  await store.outbox.accountsWithWork(0);
  await store.outbox.unfinished(chat, 5);
  await store.souls.status('main', 0);
  await store.outbox.chatsWithWork('web', 'default', 0, 5);
  await store.outbox.counts();
  await useDeadLetters(store);
  await useViews(store);
  await store.decisions.stories(chat, 5);
  for (const name of ['last', 't1', 'm1', 'm4', 'r', 'web:c1/m1']) {
    await store.why.ask({ message: name }, 0);
    await store.why.ask({ message: name, chat }, 0);
  }
  await store.outbox.recent(chat, 5);
  const values = store.adapterValues('web', 'default');
  await values.set([
    { kind: 'k', id: 'a', value: '1' },
    { kind: 'k', id: 'b', value: null },
  ]);
  await values.get('k', ['a', 'b']);
  await values.clear();
}

async function useViews(store: Store): Promise<void> {
  const { list, pinned, titles, people, details, messages, search, act } = store.conversations;
  await list({ before: null, limit: 5 });
  await store.conversationMarks.begin('', {
    ...{ pinned: ['web:c1'], archived: [], unread: ['web:c1'], titles: { 'web:c1': 'x' } },
  });
  await store.conversationMarks.change('', 'web:c1', { kind: 'read', upTo: null });
  await store.conversationMarks.of('');
  await store.takeovers.takeOver({ conversationId: 'web:c1', by: 'Ann', lastsMs: 1 });
  await store.takeovers.handBack('web:c1', 'Ann');
  await store.takeovers.recent(5);
  await pinned('');
  await titles(['web:c1']);
  await people('web:c1');
  await details('web:c1', 0);
  await messages({ conversationId: 'web:c1', before: null, until: null, limit: 5 });
  const query = { typed: 'text', before: null, limit: 5, scrub: (text: string) => text };
  await search(query, () => 0);
  await act('web:c1', { kind: 'new-session' }, 0);
}

async function useDeadLetters(store: Store): Promise<void> {
  await store.inbox.accept(createMessage('d1', 'c7'));
  const { lease } = await startTurn(store, 't9', 'web:c7');
  await store.lanes.commit(
    lease,
    { ...createAnswer('t9', ['no', 'answer'], 'c7'), outcome: 'failed' },
    0,
  );
  await store.deadLetters.openIds(['refused', 'unanswered'], 0, 5);
  for (const { id } of await store.deadLetters.open({ before: 99, limit: 5 })) {
    await store.deadLetters.get(id);
    await store.deadLetters.replay(id, 'even-twice', 0);
    await store.deadLetters.drop(id, 0);
  }
  await store.deadLetters.counts();
  await store.backlog.read(5, 0);
}

async function usePrompts(store: Store): Promise<void> {
  const { channel, account, chatId } = createTestRoute('c1');
  const who = { chatType: 'direct', personId: 'u', personName: 'Bo' } as const;
  const part = { layer: 'l', source: 's', stable: true, cut: null, tokens: 1, text: 't' };
  await store.prompts.record({
    turnId: 't1',
    conversationId: 'web:c1',
    at: 1,
    layout: 'parley',
    model: 'm',
    place: { channel, account, chatId, ...who },
    messageIds: ['m1'],
    parts: [{ ...part, placement: 'system', audience: { kind: 'everyone' } }],
    unsent: [],
    tools: [],
    messages: [],
  });
  await store.prompts.ofTurn('t1');
  await store.prompts.list({ limit: 5 });
  await store.prompts.list({ chat: 'c1', before: { at: 9, turnId: 't9' }, limit: 5 });
}

async function useRetention(store: Store): Promise<void> {
  const ages = { messages: 1, history: 1, decisions: 1, prompts: 1, spend: 1 };
  const now = 10 * 24 * 60 * 60_000;
  const pace = { clock: () => now, countFrom: now, pause: async () => true };
  await store.retention.witnesses();
  await store.retention.run({ ages, bytes: 1 }, pace);
}

async function useAttachments(store: Store): Promise<void> {
  const plain = createMessage('f1', 'c8');
  const attachments = [{ kind: 'image' as const, ref: 'a' }];
  await store.inbox.accept({ ...plain, message: { ...plain.message, attachments } });
  await store.inbox.revise(
    { ...createTestRoute('c8'), messageId: 'f1' },
    { ...plain.message, attachments },
  );
  const work = { conversationId: 'web:c8', owner: 'w1', leaseMs: 1 };
  await store.lanes.begin(work, 'collect', 't8', 0);
  for (const key of await store.attachments.due('web', 'default', 0, 5)) {
    await store.attachments.retryLater(key, 0, 0);
    await store.attachments.keepText(key, 'x', 0);
    await store.attachments.keep(key, Uint8Array.of(1), 0);
    await store.attachments.bytes(key);
    await store.attachments.ofMessages([key.messageSeq]);
  }
  await store.attachments.bytesKept();
  await store.attachments.forget(1, 1);
}
