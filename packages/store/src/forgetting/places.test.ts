import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { Store } from '../open-store.ts';
import { sqliteForTests } from '../testing/databases.ts';
import { claim, hold, message } from '../testing/messages.ts';
import { FORGET_PLACES } from './places.ts';

/** Ids, names, states, addresses and numbers: no words that somebody has said in a conversation. */
const WITHOUT_WORDS: Readonly<Record<string, readonly string[]>> = {
  account_pause: ['channel', 'account', 'paused_by'],
  adapter_value: ['channel', 'account', 'kind', 'id'],
  approval: [
    'code',
    'conversation_id',
    'turn_id',
    'call_key',
    'tool',
    'asked_by',
    'asked_in',
    'approvers',
    'state',
    'decided_by',
    'result',
  ],
  agent_file: ['id', 'part_id', 'turn_id', 'kind', 'mime_type', 'file_id'],
  attachment: ['channel', 'account', 'kind', 'mime_type', 'ref', 'state', 'file_id', 'person'],
  file_piece: ['file_id'],
  conversation: ['id', 'lease_owner', 'mode', 'model', 'plan'],
  heartbeat_run: ['id', 'agent', 'task', 'target', 'state', 'turn_id'],
  cron_job: ['id', 'asked_by', 'conversation_id', 'route', 'timetable', 'state', 'last_message'],
  dead_letter: ['kind', 'subject', 'settled'],
  decision: ['channel', 'account', 'chat_id', 'message_id', 'sender_id', 'outcome', 'reason'],
  heartbeat: ['agent', 'last_reason'],
  inbox: [
    'conversation_id',
    'channel',
    'account',
    'chat_id',
    'message_id',
    'route',
    'state',
    'turn_id',
    'outcome',
    'trace',
  ],
  lease: ['name', 'owner'],
  allowed_sender: ['channel', 'account', 'sender_id'],
  link_code: ['code', 'maker_id', 'maker_route', 'typist_id', 'typist_route'],
  // Taken out with the line of the file.
  memory_entry: [
    'file',
    'id',
    'type',
    'scope',
    'person',
    'words',
    'saved_on',
    'channel',
    'chat_id',
    'message_id',
  ],
  outbox: [
    'id',
    'idempotency_key',
    'turn_id',
    'notice_of',
    'channel',
    'account',
    'chat_id',
    'route',
    'state',
    'platform_message_id',
    'trace',
    'about',
    'changed',
  ],
  group_context: [
    'conversation_id',
    'channel',
    'account',
    'chat_id',
    'message_id',
    'sender_id',
    'turn_id',
  ],
  page_session: ['id', 'hash', 'opened_with', 'user_agent', 'network'],
  sign_in: ['id', 'hash', 'name', 'role'],
  seen_group: ['channel', 'account', 'chat_id', 'title'],
  pairing_request: ['code', 'channel', 'account', 'sender_id', 'sender_name', 'route'],
  parley_migration: ['name', 'parley_version'],
  person_link: ['person_id', 'link_id'],
  process: ['id', 'role', 'host', 'address', 'version', 'facts'],
  prompt_text: ['hash'],
  search_reach: ['source'],
  session_pin: ['conversation_id', 'pin_key'],
  spend: ['day', 'person_id', 'group_id', 'agent'],
  sub_agent: [
    'id',
    'call_id',
    'conversation_id',
    'parent_conversation',
    'root_conversation',
    'parent_turn',
    'reader',
    'route',
    'state',
  ],
  store_state: ['name'],
  summary: ['conversation_id', 'reader', 'kind', 'mark', 'claimed_by'],
  todo_list: ['conversation_id'],
  transcript: ['conversation_id', 'turn_id', 'role'],
  turn: ['id', 'conversation_id', 'state', 'model', 'awaits', 'runs', 'person_id'],
  // The texts stand in prompt_text; of messages there is a hash.
  turn_prompt: [
    'turn_id',
    'conversation_id',
    'chat_id',
    'layout',
    'model',
    'place',
    'message_ids',
    'parts',
    'unsent',
    'tools',
    'messages',
  ],
  turn_step: ['turn_id', 'facts'],
};
/** Stays: a character is changed by its own commands, and `/forget` says that its versions stay. */
const STAYS: Readonly<Record<string, readonly string[]>> = {
  soul: ['agent'],
  soul_version: [
    ...['agent', 'asked_by', 'text', 'head', 'author', 'by_whom', 'reason', 'diff', 'findings'],
    ...['state', 'decided_by'],
  ],
};
/** Places that are looked after by themselves. */
const BY_THEMSELVES: Readonly<Record<string, readonly string[]>> = {
  prompt_text: ['content'],
  adapter_value: ['value'],
};

const SECRET = 'amaranth';
const CHAT = 'web:c1';
/** What makes a row one of the conversation, or unlike all others. */
const FILLED: Readonly<Record<string, string | number>> = {
  conversation_id: CHAT,
  root_conversation: CHAT,
  target: CHAT,
  channel: 'web',
  account: 'default',
  chat_id: 'c1',
  turn_id: 't1',
  inbox_seq: 1,
  seq: 77,
  state: 'done',
};

interface Column {
  readonly name: string;
  readonly type: string;
}

describe('the places of text in the database', () => {
  const database = sqliteForTests();
  let store: Store;
  let look: DatabaseSync;
  beforeEach(async () => {
    store = await database.openEmpty();
    look = new DatabaseSync(database.url().slice('sqlite:'.length));
    look.exec('pragma foreign_keys = off; pragma busy_timeout = 5000; pragma secure_delete = on');
  });
  afterAll(() => database.dispose());

  const tables = () =>
    look
      .prepare("select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'")
      .all()
      .map(({ name }) => String(name));
  const columnsOf = (table: string): readonly Column[] =>
    look
      .prepare('select name, type from pragma_table_info(?)')
      .all(table)
      .map(({ name, type }) => ({ name: String(name), type: String(type).toLowerCase() }));
  const everything = () =>
    tables().flatMap((table) => look.prepare(`select * from ${table}`).all());

  /** A row in each place, with words in each of its columns of text. */
  const fill = async (type?: 'group') => {
    await store.inbox.accept({ ...message('m1', 'c1', type && { type }), fromOwner: true });
    await claim(store, await hold(store), 't1');
    for (const { table, texts } of FORGET_PLACES) {
      const columns = columnsOf(table);
      const values = columns.map(({ name, type }) => {
        const form = texts[name];
        if (form !== undefined) return form === 'json' ? JSON.stringify({ text: SECRET }) : SECRET;
        if (table === 'turn' && name === 'id') return 't9';
        return FILLED[name] ?? (type === 'text' ? `${table}-${name}` : 1);
      });
      const marks = columns.map(() => '?').join(', ');
      look.prepare(`insert into ${table} values (${marks})`).run(...values);
    }
  };

  /** Nothing of the database is open any more, and each of its files is read as bytes. */
  const closedFilesHold = async (expected: boolean) => {
    look.close();
    await store.close();
    const folder = dirname(database.url().slice('sqlite:'.length));
    const holding = readdirSync(folder).filter((name) =>
      readFileSync(join(folder, name)).includes(SECRET),
    );
    expect(holding.length > 0).toBe(expected);
  };

  it('[G15] are all known: each column of text is rewritten, or declared to hold no text', () => {
    const known = new Set([
      ...FORGET_PLACES.flatMap(({ table, texts }) =>
        Object.keys(texts).map((one) => `${table}.${one}`),
      ),
      ...[WITHOUT_WORDS, BY_THEMSELVES, STAYS].flatMap((list) =>
        Object.entries(list).flatMap(([table, names]) => names.map((name) => `${table}.${name}`)),
      ),
    ]);
    const all = tables().flatMap((table) =>
      columnsOf(table).flatMap(({ name, type }) => (type === 'text' ? [`${table}.${name}`] : [])),
    );
    expect(all.filter((column) => !known.has(column))).toEqual([]);
    const existing = [...known].filter((column) => tables().includes(column.split('.')[0] ?? ''));
    expect(existing.filter((column) => !all.includes(column))).toEqual([]);
  });

  it('[G15] are all emptied of it, in the tables and in the files of the database', async () => {
    await fill();
    const sent = JSON.stringify({
      id: 'x',
      content: Buffer.from(`\n ${SECRET} `).toString('base64'),
    });
    look.prepare("insert into adapter_value values ('web', 'default', 'sent', '1', ?)").run(sent);
    const kept = sent.replace(
      /"content":".*"/,
      `"content":"${Buffer.from('plain').toString('base64')}"`,
    );
    look.prepare("insert into adapter_value values ('web', 'default', 'sent', '2', ?)").run(kept);
    expect(JSON.stringify(everything())).toContain(SECRET);

    const forgotten = await store.forgetting.forget({
      conversations: [CHAT],
      ownersToo: true,
      phrases: [SECRET],
      mark: '[forgotten]',
    });

    expect(JSON.stringify(everything())).not.toMatch(/amaranth/i);
    expect(look.prepare('select id from adapter_value').all()).toEqual([{ id: '2' }]);
    const rows = (what: string) => FORGET_PLACES.filter(({ counts }) => counts === what).length;
    const [history, messages, answers] = [rows('history'), rows('messages'), rows('answers')];
    const counted = { history, messages, answers, steps: rows('steps'), pins: rows('pins') };
    expect(forgotten).toEqual({ ...counted, prompts: 0, copies: 1 });
    await closedFilesHold(false);
  });

  it('[G15] are all emptied of a person, of whom nothing is left in the bytes of the files', async () => {
    await fill();
    const sent = JSON.stringify({ id: 'x', content: Buffer.from('hi').toString('base64') });
    look.prepare("insert into adapter_value values ('web', 'default', 'sent', '1', ?)").run(sent);
    look.exec("update outbox set platform_message_id = 'x'");
    look.exec("delete from inbox where message not like '%sender%'");
    const copied = JSON.stringify(everything()).split(SECRET).length;
    expect(copied).toBeGreaterThan(FORGET_PLACES.length);
    expect(await store.forgetting.searchFiles([SECRET])).toEqual({ found: 1, complete: true });

    const { messages, samples } = await store.forgetting.forgetPerson({
      persons: ['web:u1'],
      ownersToo: false,
      only: null,
      mark: '[forgotten]',
      now: 5,
      onStopped() {},
      retell: () => '',
    });

    expect(messages).toBe(1);
    expect(await store.forgetting.searchFiles([SECRET, ...samples])).toEqual({
      found: 0,
      complete: true,
    });
    expect(JSON.stringify(everything())).not.toMatch(/amaranth/i);
    expect(look.prepare('select id from adapter_value').all()).toEqual([]);
    await closedFilesHold(false);
  });

  it('[G15] are all emptied of what one person of a group said, whichever table keeps it', async () => {
    await fill('group');
    // What mixes voices repeats what they wrote; everything else is theirs by its turn, message or sender.
    const said = JSON.stringify({
      ...message('m1', 'c1', { type: 'group' }).message,
      text: SECRET,
    });
    look.exec("delete from inbox where message not like '%sender%'");
    look.prepare('update inbox set message = ?').run(said);
    look.exec("delete from turn where id = 't9'");
    look.prepare("update turn set reason = ? where id = 't1'").run(SECRET);
    look.exec("update sub_agent set parent_turn = 't1', conversation_id = 'web:sub'");
    look.exec("update group_context set sender_id = 'u1'");
    look.prepare('update cron_job set origin = ?').run(said);
    const left = () => JSON.stringify(everything()).split(SECRET).length - 1;
    expect(left()).toBeGreaterThan(FORGET_PLACES.length);

    await store.forgetting.forgetPerson({
      persons: ['web:u1'],
      ownersToo: false,
      only: CHAT,
      mark: '[forgotten]',
      now: 5,
      onStopped() {},
      retell: () => '',
    });

    const where = tables().filter((table) =>
      JSON.stringify(look.prepare(`select * from ${table}`).all()).includes(SECRET),
    );
    expect(where).toEqual([]);
    expect(left()).toBe(0);
  });
});
