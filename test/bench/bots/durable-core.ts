import { createHash } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { type BotMessage, type ModelAnswer, SYSTEM, TOOLS } from './ask-model.ts';

// The smallest durable bot. It uses five transactions per message, of which accepting, committing
// and sending are synced, and has a lease with a fencing token, a history of 100 entries, prompt
// records, spend and an outbox. Transactions requested in the same turn of the event loop are
// combined. An error ends the process, and the next start continues from the file. A part that was
// being sent at that moment may have arrived, so its chat is notified and the part is not sent
// again.

/** Asks a model and reads its complete answer. */
export type AskModel = (
  messages: readonly BotMessage[],
  tools: readonly object[],
) => Promise<ModelAnswer>;

const { BOT_TOKEN = '', API_ROOT = '', DATABASE = '' } = process.env;
const LEASE_MS = 30_000;

const db = new DatabaseSync(DATABASE);
db.exec(`
  pragma journal_mode = wal;
  create table if not exists inbox (id integer primary key, chat int, text text, done int default 0);
  create index if not exists inbox_due on inbox (chat, id) where done = 0;
  create table if not exists lanes (chat integer primary key, fence int, leased_until int);
  create table if not exists history (id integer primary key, chat int, role text, content text);
  create index if not exists history_chat on history (chat, id);
  create table if not exists texts (hash text primary key, text text);
  create table if not exists prompts (turn integer primary key, chat int, at int, record text);
  create table if not exists spend (day text, chat int, tokens_in int, tokens_out int, primary key (day, chat));
  create table if not exists outbox (id integer primary key, chat int, text text, state text, message int);
  create index if not exists outbox_open on outbox (state, chat) where state in ('pending', 'sending');
`);
const sql = {
  begin: db.prepare('begin immediate'),
  commit: db.prepare('commit'),
  accept: db.prepare('insert into inbox (id, chat, text) values (?, ?, ?) on conflict do nothing'),
  lease: db.prepare(`insert into lanes values (?, 1, ?)
    on conflict do update set fence = fence + 1, leased_until = excluded.leased_until returning fence`),
  due: db.prepare('select id, text from inbox where chat = ? and done = 0 order by id'),
  past: db.prepare('select role, content from history where chat = ? order by id desc limit 100'),
  leave: db.prepare('update lanes set leased_until = 0 where chat = ? and fence = ?'),
  done: db.prepare('update inbox set done = 1 where chat = ? and id <= ?'),
  remember: db.prepare('insert into history (chat, role, content) values (?, ?, ?)'),
  prompt: db.prepare('insert or replace into prompts values (?, ?, ?, ?)'),
  spend: db.prepare(`insert into spend values (?, ?, ?, ?) on conflict do update set
    tokens_in = tokens_in + excluded.tokens_in, tokens_out = tokens_out + excluded.tokens_out`),
  enqueue: db.prepare(
    "insert into outbox (chat, text, state) values (?, ?, 'pending') returning id",
  ),
  sending: db.prepare("update outbox set state = 'sending' where id = ? and state = 'pending'"),
  sent: db.prepare("update outbox set state = 'sent', message = ? where id = ?"),
};
const systemHash = createHash('sha256').update(SYSTEM).digest('hex');
db.prepare('insert or ignore into texts values (?, ?)').run(systemHash, SYSTEM);
const UNSURE = 'This may have been cut off by a restart: you may not have got an answer.';
db.exec(`begin immediate; update lanes set leased_until = 0;
  insert into outbox (chat, text, state) select chat, '${UNSURE}', 'pending' from outbox where state = 'sending';
  update outbox set state = 'unknown' where state = 'sending'; commit`);

let group: { readonly synced: boolean; readonly run: () => () => void }[] = [];
let isSyncing: boolean | undefined;

/** Runs `work` in a transaction shared by all work in this turn of the event loop. */
function transact<T>(synced: boolean, work: () => T): Promise<T> {
  return new Promise((resolve) => {
    const run = () => {
      const result = work();
      return () => resolve(result);
    };
    if (group.push({ synced, run }) === 1) setImmediate(commitGroup);
  });
}

function commitGroup(): void {
  const works = group;
  group = [];
  const synced = works.some((work) => work.synced);
  if (synced !== isSyncing) db.exec(`pragma synchronous = ${synced ? 'full' : 'normal'}`);
  isSyncing = synced;
  sql.begin.run();
  const settle = works.map(({ run }) => run());
  sql.commit.run();
  for (const one of settle) one();
}

interface AnswerPart {
  readonly id: number;
  readonly text: string;
}

const unsent = new Map<number, AnswerPart[]>();

/**
 * Sends unsent parts, and answers the messages that wait in a chat. Must not run concurrently for
 * one chat.
 */
export async function serveChat(chat: number, ask: AskModel): Promise<void> {
  const parts = unsent.get(chat) ?? [];
  unsent.delete(chat);
  await deliverParts(chat, parts);
  await answerChat(chat, ask);
}

async function answerChat(chat: number, ask: AskModel): Promise<void> {
  const turn = await transact(false, () => {
    const due = sql.due.all(chat);
    if (due.length === 0) return null;
    const fence = sql.lease.get(chat, Date.now() + LEASE_MS)?.fence ?? 0;
    return { due, fence, past: sql.past.all(chat).reverse() as unknown as BotMessage[] };
  });
  if (turn === null) return;
  const question = turn.due.map(({ text }) => text).join('\n');
  const last = turn.due.at(-1)?.id ?? 0;
  const messages: BotMessage[] = [
    { role: 'system', content: SYSTEM },
    ...turn.past,
    { role: 'user', content: question },
  ];
  const { text, tokensIn, tokensOut } = await ask(messages, TOOLS);
  const sizes = messages.map(({ role, content }) => ({ role, characters: content.length }));
  const record = JSON.stringify({ system: systemHash, tools: TOOLS.length, sizes });
  const part = await transact(true, () => {
    if (sql.leave.run(chat, turn.fence).changes !== 1) throw new Error('The lease was lost.');
    sql.done.run(chat, last);
    sql.remember.run(chat, 'user', question);
    sql.remember.run(chat, 'assistant', text);
    sql.prompt.run(last, chat, Date.now(), record);
    sql.spend.run(new Date().toISOString().slice(0, 10), chat, tokensIn, tokensOut);
    return { id: Number(sql.enqueue.get(chat, text)?.id), text };
  });
  await deliverParts(chat, [part]);
}

async function deliverParts(chat: number, parts: readonly AnswerPart[]): Promise<void> {
  for (const { id, text } of parts) {
    await transact(true, () => sql.sending.run(id));
    const { message_id: message } = await callTelegram('sendMessage', { chat_id: chat, text });
    await transact(false, () => sql.sent.run(message, id));
  }
}

async function callTelegram(method: string, body: object) {
  const response = await fetch(`${API_ROOT}/bot${BOT_TOKEN}/${method}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${method}: ${response.status} ${await response.text()}`);
  return JSON.parse(await response.text()).result;
}

/**
 * Resumes from the file, and polls until the process ends. `wake` runs `serve` for a chat that has
 * unanswered messages.
 */
export async function runBot(wake: (chat: number) => void): Promise<never> {
  const open = db.prepare("select id, chat, text from outbox where state = 'pending' order by id");
  for (const row of open.all()) {
    const part = { id: Number(row.id), text: String(row.text) };
    unsent.set(Number(row.chat), [...(unsent.get(Number(row.chat)) ?? []), part]);
  }
  const waiting = db.prepare('select distinct chat from inbox where done = 0').all();
  for (const chat of new Set([...unsent.keys(), ...waiting.map((row) => Number(row.chat))]))
    wake(chat);
  process.once('SIGTERM', () => process.exit());
  console.log('ready');
  for (let offset = 0; ; ) {
    const updates = await callTelegram('getUpdates', { offset, timeout: 25 });
    if (updates.length === 0) continue;
    const accepted = new Set<number>();
    await transact(true, () => {
      for (const { update_id, message } of updates) {
        if (message?.text === undefined) continue;
        sql.accept.run(update_id, message.chat.id, message.text);
        accepted.add(message.chat.id);
      }
    });
    offset = updates.at(-1).update_id + 1;
    for (const chat of accepted) wake(chat);
  }
}
