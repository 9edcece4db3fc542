import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { Store } from '../store.ts';
import { createSqliteForTests } from '../testing/databases.ts';
import { createMessage, startTurn } from '../testing/messages.ts';
import { FORGOTTEN_TABLES } from './forgotten-tables.ts';

/** The tables that contain human text. */
const WITH_WORDS = FORGOTTEN_TABLES.filter(({ texts }) => Object.keys(texts).length > 0);
const SECRET = 'amaranth';
const CHAT = 'web:c1';
/** Values for columns that link a row to the conversation or must be unique. */
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

describe('tables with human text', () => {
  const database = createSqliteForTests();
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

  /** Inserts a row into each table, with text in every column that can hold it. */
  const fill = async (type?: 'group') => {
    await store.inbox.accept({ ...createMessage('m1', 'c1', type && { type }), fromOwner: true });
    await startTurn(store, 't1');
    for (const { table, texts } of WITH_WORDS) {
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

  /** Closes the database and reads each of its files as bytes. */
  const closedFilesHold = async (expected: boolean) => {
    look.close();
    await store.close();
    const folder = dirname(database.url().slice('sqlite:'.length));
    const holding = readdirSync(folder).filter((name) =>
      readFileSync(join(folder, name)).includes(SECRET),
    );
    expect(holding.length > 0).toBe(expected);
  };

  it('[G15] lose a forgotten phrase, both in table rows and in the database files', async () => {
    await fill();
    const sent = JSON.stringify({
      id: 'x',
      content: Buffer.from(`\n ${SECRET} `).toString('base64'),
    });
    look.prepare("insert into adapter_state values ('web', 'default', 'sent', '1', ?)").run(sent);
    const kept = sent.replace(
      /"content":".*"/,
      `"content":"${Buffer.from('plain').toString('base64')}"`,
    );
    look.prepare("insert into adapter_state values ('web', 'default', 'sent', '2', ?)").run(kept);
    expect(JSON.stringify(everything())).toContain(SECRET);

    const forgotten = await store.forgetting.forget({
      conversations: [CHAT],
      ownersToo: true,
      phrases: [SECRET],
    });

    expect(JSON.stringify(everything())).not.toMatch(/amaranth/i);
    expect(look.prepare('select id from adapter_state').all()).toEqual([{ id: '2' }]);
    const rows = (what: string) => WITH_WORDS.filter(({ counts }) => counts === what).length;
    const [history, messages, answers] = [rows('history'), rows('messages'), rows('answers')];
    const counted = { history, messages, answers, steps: rows('steps'), pins: rows('pins') };
    expect(forgotten).toEqual({ ...counted, prompts: 0, copies: 1 });
    await closedFilesHold(false);
  });

  it('[G15] lose everything that a person wrote in a direct chat, including the bytes on disk', async () => {
    await fill();
    const sent = JSON.stringify({ id: 'x', content: Buffer.from('hi').toString('base64') });
    look.prepare("insert into adapter_state values ('web', 'default', 'sent', '1', ?)").run(sent);
    look.exec("update outbox set platform_message_id = 'x'");
    look.exec("delete from inbox where message not like '%sender%'");
    const copied = JSON.stringify(everything()).split(SECRET).length;
    expect(copied).toBeGreaterThan(WITH_WORDS.length);
    expect(await store.forgetting.searchFiles([SECRET])).toEqual({ found: 1, complete: true });

    const { messages, samples } = await store.forgetting.forgetPerson({
      persons: ['web:u1'],
      ownersToo: false,
      only: null,
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
    expect(look.prepare('select id from adapter_state').all()).toEqual([]);
    await closedFilesHold(false);
  });

  it('[G15] lose what one person wrote in a group, in every table', async () => {
    await fill('group');
    // Rows that mix several people's text quote the person; all other rows belong to the person by
    // turn, message or sender.
    const said = JSON.stringify({
      ...createMessage('m1', 'c1', { type: 'group' }).message,
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
    expect(left()).toBeGreaterThan(WITH_WORDS.length);

    await store.forgetting.forgetPerson({
      persons: ['web:u1'],
      ownersToo: false,
      only: CHAT,
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
