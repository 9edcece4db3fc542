import { statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import { Client } from 'pg';
import { afterAll, beforeEach, describe, expect, inject, it } from 'vitest';
import type { NewApproval } from './approval-rows.ts';
import { openStore } from './open-store.ts';
import type { RetentionAges } from './retention.ts';
import { RETENTION_RULES } from './retention-rules.ts';
import type { Store } from './store.ts';
import { TABLES } from './tables.ts';
import { createSqliteForTests, listBothDatabases, type TestDatabase } from './testing/databases.ts';
import {
  createAnswer,
  createMessage,
  createPart,
  createTestRoute,
  DAY,
  fillAllTables,
  startTurn,
} from './testing/messages.ts';

const FOREVER = Number.POSITIVE_INFINITY;
const NOW = 1_000 * DAY;
const AGES: RetentionAges = {
  messages: 60 * DAY,
  history: 100 * DAY,
  decisions: 30 * DAY,
  prompts: 7 * DAY,
  spend: 100 * DAY,
};

for (const database of listBothDatabases(inject('postgresUrl'))) {
  describe.runIf(database.available)(`old rows on ${database.name}`, () => {
    let store: Store;
    let now = 0;
    beforeEach(async () => {
      await store?.close();
      await database.openBare();
      now = 1_000;
      store = await openStore({ url: database.url(), clock: () => now });
    });
    afterAll(async () => {
      await store.close();
      await database.dispose();
    });

    const round = (
      ages: Partial<RetentionAges> = {},
      { bytes = FOREVER, pause = async () => true }: Partial<{ bytes: number; pause: Pause }> = {},
    ) =>
      store.retention.run(
        { ages: { ...AGES, ...ages }, bytes },
        { clock: () => now, countFrom: now, pause },
      );
    type Pause = (tookMs: number) => Promise<boolean>;
    const rows = async (): Promise<Readonly<Record<string, number>>> => {
      const { tables } = await store.retention.use(AGES, now);
      return Object.fromEntries(tables.map((table) => [table.table, table.rows]));
    };
    /** Writes the same number of messages on each of these days, each in a separate chat. */
    const live = async (days: number, perDay: number) => {
      for (let day = 1; day <= days; day += 1) {
        const at = day * DAY;
        now = at + DAY / 2;
        await Promise.all(
          Array.from({ length: perDay }, (_, nth) =>
            fillAllTables(store, at + nth, `c${nth}`, `m${day}-${nth}`),
          ),
        );
      }
    };

    it('[D15] removes rows from all tables at their age limits, and keeps newer rows', async () => {
      await live(20, 2);
      const refused = { senderId: 'u', outcome: 'refused', reason: 'x', at: DAY } as const;
      await store.decisions.record({ ...createTestRoute('c0'), messageId: 'r', ...refused });
      expect((await store.retention.use(AGES, now)).tables).toContainEqual(
        expect.objectContaining({ table: 'inbox', rows: 40, old: { rows: 0, bytes: 0 } }),
      );
      const day = { messages: 5 * DAY, history: 10 * DAY, prompts: 2 * DAY, spend: 5 * DAY };
      await round({ ...day, decisions: 19 * DAY });
      expect(await rows()).toMatchObject({
        inbox: 10,
        outbox: 10,
        turn_step: 10,
        transcript: 40,
        turn: 20,
        turn_prompt: 4,
        ingress_decision: 0,
        conversation: 2,
        session_snapshot: 2,
        spend: 12,
      });
      expect(await store.retention.last()).toMatchObject({ endedAt: now, cutoff: null });
    });

    it('[D15] keeps old rows while they are needed: waiting, open or unanswered', async () => {
      await store.inbox.accept(createMessage('waiting', 'c1'));
      await store.outbox.enqueue([createPart('unsent', 'c2')], 0);
      await store.inbox.accept(createMessage('asked', 'c3'));
      const { lease: dead } = await startTurn(store, 'turn_dead', 'web:c3');
      await store.turns.appendStep(dead, 'turn_dead', { index: 0, content: 0 }, 0);
      const failed = { ...createAnswer('turn_dead', [], 'c3'), outcome: 'failed' as const };
      await store.lanes.commit(dead, failed, 0);
      await store.inbox.accept(createMessage('allow', 'c4'));
      const { lease: suspended } = await startTurn(store, 'turn_asks', 'web:c4');
      await store.turns.appendStep(suspended, 'turn_asks', { index: 0, content: 0 }, 0);
      await store.approvals.ask(suspended, approval(), [], 0);
      const owner = { ...createMessage('hello', 'c5'), fromOwner: true };
      await store.inbox.command(owner, async (command) => {
        await command.stop();
        command.answer(createPart('stopped', 'c5'));
      });
      const place = { conversationId: 'web:c4', session: 0 };
      await store.pins.fix(place, 'k', 'v', 0);
      const summary = { ...place, reader: 'owner', kind: 'history', mark: '0' } as const;
      for (const [mark, reaches] of [
        ['0', 1],
        ['1', 2],
      ] as const) {
        await store.summaries.claim(
          { ...summary, mark },
          { by: 'x', now: 0, claimMs: 1, impatient: true },
        );
        await store.summaries.finish({ ...summary, mark }, 'x', { content: mark, reaches });
      }
      now = NOW;
      await round({}, { bytes: 1 });
      await round();
      expect(await rows()).toMatchObject({
        inbox: 4,
        turn: 2,
        turn_step: 2,
        approval: 1,
        dead_letter: 1,
        session_snapshot: 1,
        summary: 1,
      });
      expect((await store.outbox.next(createTestRoute('c2')))?.part.body.text).toBe('unsent');
      expect(await store.inbox.ownerRoute()).toMatchObject({ route: { chatId: 'c5' } });
      expect(await store.summaries.latest(summary)).toMatchObject({ content: '1' });
      const [letter] = await store.deadLetters.open({ limit: 9 });
      expect(await store.deadLetters.replay(letter?.id ?? 0, 'once', now)).toMatchObject({
        kind: 'replayed',
      });
      expect(await store.inbox.waiting('web:c3')).toBe(1);
      // The dead letter is settled and the question is still waiting, so only the question is
      // needed.
      now += 61 * DAY;
      await round();
      expect(await rows()).toMatchObject({ inbox: 4, turn: 1, turn_step: 1, dead_letter: 0 });
    });

    it('[D15] removes the oldest rows first while the database is too large, but keeps those of the last three days', async () => {
      await live(12, 2);
      const forever = { messages: FOREVER, history: FOREVER, prompts: FOREVER };
      const { tables } = await store.retention.use(AGES, now);
      const bytes = tables.reduce((sum, table) => sum + table.bytes, 0);
      expect(await round(forever, { bytes: 2 * bytes })).toMatchObject({
        removed: 0,
        cutoff: null,
      });
      const { cutoff } = await round(forever, { bytes: Math.floor(bytes / 2) });
      if (database.name === 'SQLite') {
        expect(cutoff).toBeGreaterThan(3 * DAY);
        const { inbox, transcript, turn_prompt } = await rows();
        expect(inbox).toBeLessThan(20);
        expect([transcript, turn_prompt]).toEqual([2 * (inbox ?? 0), inbox]);
      }
      for (let nth = 0; nth < 4; nth += 1) await round(forever, { bytes: 1 });
      if (database.name === 'SQLite')
        expect(await rows()).toMatchObject({ inbox: 6, transcript: 12 });
      expect(await store.inbox.accept(createMessage('m10-1', 'c1'))).toBe('duplicate');
    });

    it('[D15] removes rows in steps, between which other work runs, and later continues an interrupted round', async () => {
      await live(2, 30);
      now = 300 * DAY;
      const ended = await round({}, { pause: async () => false });
      expect(ended.removed).toBe(50);
      expect(await store.retention.last()).toBeNull();
      let steps = 0;
      await round({}, { pause: async () => ++steps > 0 });
      expect(steps).toBeGreaterThan(8);
      expect(await rows()).toMatchObject({ inbox: 0, outbox: 0, turn: 0, transcript: 0 });
    });

    it('[D15] counts rows for every table, and reports the age limit or the reason for keeping them', async () => {
      const { tables } = await store.retention.use(AGES, now);
      expect(tables.map(({ table }) => table).sort()).toEqual(Object.keys(TABLES).sort());
      expect(tables.filter(({ bound }) => bound.length === 0)).toEqual([]);
    });
  });
}

function approval(): NewApproval {
  return {
    code: 'CODE7',
    turnId: 'turn_asks',
    callKey: 'k',
    tool: 'write',
    shown: '{}',
    askedBy: 'web:u1',
    place: 'web c4',
    askedIn: 'web:c4',
    approvers: [],
    expiresAt: 5,
  };
}

const [sqlite, postgres] = listBothDatabases(inject('postgresUrl'));

describe.each([
  { database: sqlite, days: 365, ages: AGES },
  // The PostgreSQL run is shorter and uses shorter age limits.
  { database: postgres, days: 40, ages: { ...AGES, messages: 5 * DAY, history: 8 * DAY } },
])('a long run of a busy installation', ({ database, days, ages }) => {
  if (database === undefined) throw new Error('There are two databases.');
  afterAll(() => database.dispose());

  /** The size of the file, or of all tables on a vacuumed server. */
  const sizeOf = async (store: Store): Promise<number> => {
    if (database.name === 'SQLite') return statSync(pathOf(database)).size;
    const client = new Client({ connectionString: database.url() });
    await client.connect();
    await client.query('vacuum');
    await client.end();
    return (await store.retention.use(ages, 0)).bytes;
  };

  it.runIf(database.available)(
    `[D15] does not make ${database.name} grow once rows reach their age limit`,
    async () => {
      await database.openBare();
      let now = 0;
      const store = await openStore({ url: database.url(), clock: () => now });
      const pause = async () => {
        await setImmediate();
        return true;
      };
      const sizes: number[] = [];
      for (let day = 1; day <= days; day += 1) {
        now = day * DAY;
        const at = (nth: number) => fillAllTables(store, now + nth, `c${nth}`, `m${day}-${nth}`);
        if (day % 2 === 0) await Promise.all([at(0), at(1), at(2)]);
        if (day % 5 > 0) continue;
        await store.retention.run(
          { ages, bytes: FOREVER },
          { clock: () => now, countFrom: now, pause },
        );
        sizes.push(await sizeOf(store));
      }
      const at = (share: number) => sizes[Math.floor(sizes.length * share) - 1] ?? 0;
      expect(at(1)).toBeLessThanOrEqual(at(2 / 3) * 1.02);
      expect(at(1)).toBeLessThanOrEqual(at(0.4) * 1.1);
      if (database.name === 'SQLite') {
        const log = statSync(`${pathOf(database)}-wal`).size;
        expect(log).toBeLessThanOrEqual(16 * 1024 * 1024);
      }
      await store.close();
    },
    60_000,
  );
});

const pathOf = (database: TestDatabase) => database.url().slice('sqlite:'.length);

describe('removing rows', () => {
  const database = createSqliteForTests();
  afterAll(() => database.dispose());

  it('[D15] returns free space beyond a few megabytes and a quarter of the file to the disk', async () => {
    await database.openBare();
    const store = await openStore({ url: database.url(), clock: () => 0 });
    for (let nth = 0; nth < 8; nth += 1) {
      const one = createMessage(`m${nth}`);
      const long = { ...one, message: { ...one.message, text: 'x'.repeat(2_000_000) } };
      await store.inbox.command(long, (command) => command.stop());
    }
    const pace = { clock: () => NOW, countFrom: NOW, pause: async () => true };
    await store.retention.run({ ages: AGES, bytes: FOREVER }, pace);
    await store.close();
    expect(statSync(pathOf(database)).size).toBeLessThan(5_000_000);
  });

  it('[D15] keeps an old row if a newer row refers to it', async () => {
    await database.openBare();
    const store = await openStore({ url: database.url(), clock: () => 0 });
    const look = new DatabaseSync(pathOf(database));
    const add = look.prepare(`insert into outbox (id, idempotency_key, notice_of, channel, account,
      chat_id, route, body, state, not_before, created_at, updated_at)
      values (?, ?, ?, 'web', 'default', 'c1', '{}', '{}', 'failed', 0, 0, ?)`);
    add.run('lost', 'k1', null, 1);
    add.run('notice', 'k2', 'lost', NOW);
    add.run('other', 'k3', null, 1);
    const pace = { clock: () => NOW, countFrom: NOW, pause: async () => true };
    await store.retention.run({ ages: AGES, bytes: FOREVER }, pace);
    const left = look.prepare('select id from outbox order by id').all();
    expect(left.map(({ id }) => id)).toEqual(['lost', 'notice']);
    look.close();
    await store.close();
  });

  it('[D15] finds referring rows through an index, so that removing a row is never slow', async () => {
    await (await database.openEmpty()).close();
    const look = new DatabaseSync(pathOf(database));
    const removed = new Set<string>(RETENTION_RULES.map(({ table }) => table));
    const tables = look.prepare("select name from sqlite_schema where type = 'table'").all();
    const scans = tables.flatMap(({ name: child }) =>
      look
        .prepare(`select "table" as parent, "from" as col from pragma_foreign_key_list('${child}')`)
        .all()
        .filter(({ parent }) => removed.has(String(parent)))
        .flatMap(({ col }) =>
          look.prepare(`explain query plan select 1 from ${child} where ${col} = ?`).all(),
        )
        .map(({ detail }) => String(detail))
        .filter((detail) => detail.startsWith('SCAN')),
    );
    expect(scans).toEqual([]);
    look.close();
  });
});
