import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type Database, defineStatement, getStatementText } from './database.ts';
import { openPostgres } from './postgres/open-postgres.ts';
import { openSqlite } from './sqlite/open-sqlite.ts';

const SHIFT = defineStatement('select :b as b, :a as a, :b as c /*pg for update*/');

describe("a statement's text", () => {
  it('numbers its parameters in order of first use, in the style of each database', () => {
    expect(SHIFT.names).toEqual(['b', 'a']);
    expect(getStatementText('sqlite', SHIFT)).toBe(
      'select ?1 as b, ?2 as a, ?1 as c /*pg for update*/',
    );
    expect(getStatementText('postgres', SHIFT)).toBe('select $1 as b, $2 as a, $1 as c for update');
  });

  it('hides locking clauses from SQLite, and SQLite hints from PostgreSQL', () => {
    const first = defineStatement('select 1 from t /*sqlite indexed by i */limit :most');
    expect(getStatementText('sqlite', first)).toBe('select 1 from t indexed by i limit +?1');
    expect(getStatementText('postgres', first)).toBe(
      'select 1 from t /*sqlite indexed by i */limit $1',
    );
  });
});

const ADD = defineStatement('insert into noted (id, text) values (:id, :text)');
const READ = defineStatement('select id, text from noted order by id').rows<{
  readonly id: number;
  readonly text: string;
}>();
const DROP = defineStatement('drop table if exists noted');
const MAKE = defineStatement('create table noted (id integer primary key, text text not null)');

const url = inject('postgresUrl');
const kinds = [
  {
    name: 'SQLite',
    available: true,
    open: async () => openSqlite({ path: ':memory:', name: 'memory' }),
  },
  {
    name: 'PostgreSQL',
    available: url !== null,
    open: () => openPostgres({ url: url ?? '', name: 'the server' }),
  },
];
for (const { name, available, open } of kinds) {
  describe.runIf(available)(`statements on ${name}`, () => {
    let database: Database;
    const read = () => database.read((sql) => sql.all(READ));
    beforeAll(async () => {
      database = await open();
      await database.write(async (sql) => {
        sql.send(DROP);
        sql.send(MAKE);
      });
    });
    afterAll(async () => {
      await database.write((sql) => sql.run(DROP));
      await database.close();
    });

    it('executes queued statements together with later ones', async () => {
      await database.write(async (sql) => {
        sql.send(ADD, { id: 1, text: 'a' });
        sql.send(ADD, { id: 2, text: "it's" });
      });
      expect(await read()).toEqual([
        { id: 1, text: 'a' },
        { id: 2, text: "it's" },
      ]);
      expect(await database.change('process', ADD, { id: 3, text: 'c' })).toBe(1);
    });

    it('[D01] rolls back all statements when a queued statement fails, and reports its error', async () => {
      const before = await read();
      const writing = database.write(async (sql) => {
        sql.send(ADD, { id: 4, text: 'd' });
        sql.send(ADD, { id: 1, text: 'there already' });
        return await sql.run(ADD, { id: 5, text: 'e' });
      });
      await expect(writing).rejects.toThrow(/unique/i);
      expect(await read()).toEqual(before);
    });

    it('[D01] rolls back all statements when the work after them fails', async () => {
      const before = await read();
      const writing = database.write(async (sql) => {
        sql.send(ADD, { id: 6, text: 'f' });
        throw new Error('the caller thinks better of it');
      });
      await expect(writing).rejects.toThrow(/thinks better/);
      expect(await read()).toEqual(before);
    });

    it("hides a transaction's changes from others until it is committed", async () => {
      const before = await read();
      let seen: Promise<unknown> = Promise.resolve();
      await database.write(async (sql) => {
        await sql.run(ADD, { id: 7, text: 'g' });
        seen = read();
        if (database.dialect === 'postgres') expect(await seen).toEqual(before);
        await sql.run(ADD, { id: 8, text: 'h' });
      });
      if (database.dialect === 'sqlite') expect(await seen).toHaveLength(before.length + 2);
    });
  });
}
