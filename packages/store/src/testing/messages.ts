import type { BusyPolicy, ReplyRoute } from '@parley/core';
import type { NewApproval } from '../approval-rows.ts';
import type { AdmittedMessage, ClaimedTurn, Lease, NewPart, TurnCommit } from '../rows.ts';
import type { SummaryTask } from '../sessions.ts';
import type { Store } from '../store.ts';
import { createTimedIds } from '../timed-ids.ts';
import { UsageGrouping } from '../usage.ts';

const WEB = { channel: 'web', account: 'default' } as const;

/** The chat, lane and route of test messages have one short name in common. */
export function createTestRoute(chatId: string, threadId?: string): ReplyRoute {
  const target = { dialect: 'plain', maxLength: 4096, unit: 'utf16' } as const;
  return { ...WEB, chatId, ...(threadId === undefined ? {} : { threadId }), target };
}

/** Creates a message `id` in `chatId`, whose lane is `web:<chatId>`. */
export function createMessage(
  id: string,
  chatId = 'c1',
  more: { readonly at?: number; readonly threadId?: string; readonly type?: 'group' } = {},
): AdmittedMessage {
  return {
    conversationId: `web:${chatId}`,
    route: createTestRoute(chatId, more.threadId),
    receivedAt: more.at ?? 0,
    message: {
      ...WEB,
      messageId: id,
      chat: { id: chatId, type: more.type ?? 'direct' },
      sender: { id: 'u1', name: 'Ada 🦜', isBot: false },
      text: `text of ${id}`,
      mentions: [],
      addressed: true,
      sentAt: 0,
      variables: {},
    },
  };
}

/** Creates a part for the chat, with the same text with and without markup. */
export function createPart(text: string, chatId = 'c1'): NewPart {
  return { route: createTestRoute(chatId), body: { text, plain: text } };
}

/** Creates a commit that answers with the given parts and adds an entry to the history. */
export function createAnswer(turnId: string, texts: readonly string[], chatId = 'c1'): TurnCommit {
  return {
    turnId,
    outcome: 'answered',
    entries: texts.map((content) => ({ role: 'assistant', content })),
    parts: texts.map((text) => createPart(text, chatId)),
    usage: null,
  };
}

/** Acquires a free lane and starts its turn, as a worker does when it is woken. */
export async function startTurn(
  store: Store,
  turnId: string,
  lane = 'web:c1',
  owner = 'w1',
  busy: BusyPolicy = 'collect',
): Promise<{ readonly lease: Lease; readonly turn: ClaimedTurn }> {
  const work = { conversationId: lane, owner, leaseMs: 1_000 };
  const started = await store.lanes.begin(work, busy, turnId, 0);
  if (started.kind !== 'turn') throw new Error(`the lane ${lane} has no turn: ${started.kind}`);
  return started;
}

/** Claims the next turn, which must exist, as a worker does after a commit. */
export async function claimNextTurn(
  store: Store,
  lease: Lease,
  turnId: string,
  busy: BusyPolicy = 'collect',
): Promise<ClaimedTurn> {
  const result = await store.lanes.claim(lease, busy, turnId, 0);
  if (result.kind !== 'turn') throw new Error(`no turn: ${result.kind}`);
  return result.turn;
}

export function listMessageIds(turn: ClaimedTurn): readonly string[] {
  return turn.messages.map((row) => row.message.messageId);
}

/** Runs all the work around a turn in separate chats, except for delivering messages. */
export async function runTurnWork(store: Store): Promise<void> {
  await runSubAgentWork(store);
  await runApprovalWork(store);
  await runSummaryWork(store);
  await runMiscellaneousWork(store);
  await runReplacementWork(store);
  await doRewinding(store);
}

async function doRewinding(store: Store): Promise<void> {
  for (const id of ['w1', 'w2']) {
    await store.inbox.accept(createMessage(id, 'c9'));
    const { lease } = await startTurn(store, `t-${id}`, 'web:c9');
    await store.lanes.commit(lease, createAnswer(`t-${id}`, ['a'], 'c9'), 0);
    await store.lanes.release(lease);
  }
  const chat = { ...WEB, chatId: 'c9' };
  const branch = { conversationId: 'web:c10', route: createTestRoute('c10'), by: 'Ann' };
  const source = await store.branches.source('web:c9', { kind: 'exchanges', count: 1 });
  if (source === null || source === 'unknown') throw new Error('web:c9 has no history.');
  const { mode, model } = source;
  const turns = source.turns.map((turn) => ({ ...turn, question: null, parts: [] }));
  const summary = { content: 'notes', reaches: 1, covers: 1 };
  await store.branches.create({ ...branch, mode, model, summary, turns, notice: [] }, 0);
  for (const messageId of ['w2', 'w3']) {
    await store.inbox.command(createMessage(`w4 ${messageId}`, 'c9'), (command) =>
      command.rewind({ kind: 'quoted', chat, messageId }),
    );
  }
  await store.conversations.rewind('web:c9', { kind: 'exchanges', count: 1 }, 0);
}

async function runReplacementWork(store: Store): Promise<void> {
  const file = { kind: 'image', ref: 'f' } as const;
  const first = createMessage('r1', 'c8');
  const files = [new Uint8Array(1)];
  await store.inbox.accept({ ...first, message: { ...first.message, attachments: [file] }, files });
  const { lease } = await startTurn(store, 't8', 'web:c8');
  await store.lanes.commit(lease, { ...createAnswer('t8', ['a'], 'c8'), parts: [] }, 0);
  const again = createMessage('r2', 'c8');
  await store.inbox.accept({ ...again, message: { ...again.message, replaces: 'r1' } });
}

async function runSubAgentWork(store: Store): Promise<void> {
  await store.inbox.accept(createMessage('s1', 'c5'));
  await startTurn(store, 't5', 'web:c5');
  const order = { turnId: 't5', title: 't', task: 't', reader: 'owner', text: 'w' } as const;
  const bounds = { depth: 2, concurrent: 3 };
  for (const id of ['a', 'b']) {
    await store.subAgents.start({ ...order, id, callId: id }, bounds, 0);
    await store.subAgents.of(`sub:${id}`);
  }
  const { lease: own } = await startTurn(store, 't6', 'sub:a');
  const commit = { ...createAnswer('t6', []), parts: [] };
  const over = { commit, steps: 1, state: 'done', result: 'r', text: 'w' } as const;
  await store.subAgents.commit(own, over, 0);
  await store.inbox.command(createMessage('s2', 'c5'), (command) => command.stop());
}

async function runApprovalWork(store: Store): Promise<void> {
  await store.inbox.accept(createMessage('a1', 'c6'));
  const { lease } = await startTurn(store, 't7', 'web:c6');
  const asked: NewApproval = {
    code: 'CODE7',
    turnId: 't7',
    callKey: 'k',
    tool: 'write',
    shown: '{}',
    askedBy: 'web:u1',
    place: 'web c6',
    askedIn: 'web:c6',
    approvers: [],
    expiresAt: 5,
  };
  await store.approvals.allow(lease, { ...asked, code: 'CODE8', callKey: 'j' }, 0);
  await store.approvals.ask(lease, asked, [createPart('May I?', 'c6')], 0);
  await store.approvals.of('t7', 'k');
  await store.approvals.waiting(1);
  await store.approvals.decide('CODE8', { verdict: 'denied', by: 'console:owner' }, 1);
  await store.approvals.recent(9, 9);
  const by = { verdict: 'denied', by: 'web:u1' } as const;
  for (const code of [null, 'X']) {
    await store.inbox.command(createMessage(`a2${code}`, 'c6'), (command) =>
      command.decideApproval({ code, ...by }),
    );
  }
  await store.approvals.expire(9);
  await store.approvals.recent(5);
  await store.inbox.command(createMessage('a4', 'c6'), (command) => command.changeMode('plan'));
  await store.inbox.command(createMessage('a5', 'c6'), (command) => command.runPlan(null, 'go'));
}

async function runSummaryWork(store: Store): Promise<void> {
  const place = { conversationId: 'web:c6', session: 0, reader: 'owner' };
  const history: SummaryTask = { ...place, kind: 'history', mark: '0' };
  const by = { by: 'one', now: 0, claimMs: 9, impatient: true };
  await store.summaries.claim(history, by);
  await store.summaries.postpone(history, 'one', 0);
  await store.summaries.claim(history, by);
  await store.summaries.finish(history, 'one', { content: {}, reaches: 1 });
  await store.summaries.latest(place);
  await store.summaries.ofDay(place, '2026-11-21');
  await store.transcript.sinceSummary(place, 5);
  await store.transcript.newestAfter(place, 1, 5);
  await store.transcript.oldestAfter(place, 1, 5);
  await store.transcript.saidBetween(place, 0, 1, 5);
  await store.transcript.messagesBehind(place, 1, 5);
}

async function runMiscellaneousWork(store: Store): Promise<void> {
  const place = { conversationId: 'web:c6', session: 0 };
  await store.pins.fix(place, 'k', 'v', 0);
  await store.todos.replace(place, [{ text: 't', state: 'open' }], 0);
  await store.todos.of(place);
  const account = { day: '2026-11-21', personId: 'web:u1', groupId: 'web:default:g' };
  await store.spend.add(account, { inputTokens: 1, outputTokens: 1, costUsd: null });
  await store.spend.of(account);
  await store.spend.ofPerson(account);
  await store.spend.day(account.day);
  await store.usage.highest(account.day);
  await store.usage.hours(0, 1);
  const range = { lastDay: account.day, days: 1, timeZone: 'UTC', agent: 'a' };
  for (const by of UsageGrouping.options) await store.usage.sums({ ...range, by });
  const usage = { model: 'm', inputTokens: 1, outputTokens: 1, costUsd: null };
  await store.turns.countCutOff('t1', { account, usage });
  const memory = { file: 'f', id: 'm1', type: 'fact', scope: 'user', person: 'web:u1' };
  const from = { words: 'own', savedOn: null, channel: 'web', chatId: 'c6', messageId: 'a1' };
  await store.memories.add({ ...memory, ...from });
  await store.memories.used(['m1']);
  await store.memories.uses();
  await store.memories.remove([{ file: 'f', id: 'm2' }]);
}

export const DAY = 24 * 60 * 60_000;
const LONG = 'words of an answer, '.repeat(40);

/** Writes the rows that one chat message leaves in all tables, the way a turn would. */
export async function fillAllTables(store: Store, at: number, chat: string, id: string) {
  const newId = createTimedIds(() => at);
  const turnId = newId('turn');
  const conversationId = `web:${chat}`;
  await store.inbox.accept(createMessage(id, chat, { at }));
  const started = await store.lanes.begin(
    { conversationId, owner: 'w1', leaseMs: 1_000 },
    'collect',
    turnId,
    at,
  );
  if (started.kind !== 'turn') throw new Error(`no turn: ${started.kind}`);
  const { lease, turn } = started;
  await store.prompts.record(createTestPrompt(turnId, chat, at));
  await store.turns.appendStep(lease, turnId, { index: 0, content: { text: LONG } }, at);
  const usage = { model: 'm', inputTokens: 9, outputTokens: 9, costUsd: null };
  const account = { day: new Date(at).toISOString().slice(0, 10), personId: chat, groupId: null };
  const entries = [
    { role: 'user' as const, content: id },
    { role: 'assistant' as const, content: LONG },
  ];
  const parts = [createPart(LONG, chat)];
  const commit = { turnId, outcome: 'answered' as const, entries, parts, usage, account };
  await store.lanes.commit(lease, commit, at);
  const place = { conversationId, session: turn.session };
  await store.pins.fix(place, 'k', 'v', at);
  await store.lanes.release(lease);
  const due = (await store.outbox.next(createTestRoute(chat)))?.part.id ?? '';
  await store.outbox.markSending(due, at);
  await store.outbox.markSent(due, `p-${id}`, at);
  return turnId;
}

function createTestPrompt(turnId: string, chatId: string, at: number) {
  const who = { chatType: 'direct', personId: 'u', personName: 'Bo' } as const;
  const layer = { layer: 'l', source: 's', cut: null, tokens: 1 };
  const common = { ...layer, placement: 'system', audience: { kind: 'everyone' } } as const;
  return {
    turnId,
    conversationId: `web:${chatId}`,
    at,
    layout: 'parley',
    model: 'm',
    place: { channel: 'web', account: 'default', chatId, ...who },
    messageIds: [],
    parts: [
      { ...common, stable: true, text: LONG },
      { ...common, stable: false, text: `${turnId} ${LONG}` },
    ],
    unsent: [],
    tools: [],
    messages: [],
  };
}
