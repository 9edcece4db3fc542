import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { type Database, defineDynamicStatement, parseStoreUrl } from './database.ts';
import { MIGRATIONS, type Migration, migrate } from './migrate.ts';
import { openStore } from './open-store.ts';
import { openPostgres } from './postgres/open-postgres.ts';
import { openSqlite } from './sqlite/open-sqlite.ts';
import { listBothDatabases, readSchema } from './testing/databases.ts';
import { createMessage } from './testing/messages.ts';

const known = MIGRATIONS.map(({ number, name }) => ({ number, name }));
const NOTE: Migration = {
  number: (known.at(-1)?.number ?? 0) + 1,
  name: 'note',
  statements: () => ['create table note (text text not null)', "insert into note values ('kept')"],
};
const BROKEN: Migration = {
  number: (known.at(-1)?.number ?? 0) + 2,
  name: 'broken',
  statements: () => ['drop table note', 'create table oops (', 'never reached'],
};

const clock = () => 0;

for (const database of listBothDatabases(inject('postgresUrl'))) {
  describe.runIf(database.available)(`migrations on ${database.name}`, () => {
    let raw: Database;
    beforeEach(async () => {
      // These changes are made in a separate database, so that they do not affect other tests.
      await database.openBare();
      const store = await openStore({ url: database.url(), clock });
      await store.inbox.accept(createMessage('m1'));
      await store.close();
      const address = parseStoreUrl(database.url());
      raw = address.dialect === 'sqlite' ? openSqlite(address) : await openPostgres(address);
      return () => raw.close();
    });
    afterAll(() => database.dispose());

    it('applies each migration once and keeps data when the database is reopened', async () => {
      const again = await openStore({ url: database.url(), clock });
      expect(await again.inbox.waiting('web:c1')).toBe(1);
      await again.close();
      expect(await stepsOf(raw)).toEqual(known);
    });

    it('roll back when one step fails, and the previous version of Parley still starts on the database', async () => {
      const before = await readSchema(raw);
      const migrating = migrate(raw, [...MIGRATIONS, NOTE, BROKEN], 'db', clock);
      await expect(migrating).rejects.toMatchObject({ code: 'store-failed' });
      expect(await readSchema(raw)).toEqual(before);
      expect(await stepsOf(raw)).toEqual(known);
      const again = await openStore({ url: database.url(), clock });
      expect(await again.inbox.waiting('web:c1')).toBe(1);
      await again.close();
    });

    it('roll back when the process is killed in the middle of a step', {
      timeout: 60_000,
    }, async () => {
      const before = await readSchema(raw);
      const child = spawnMigration(database.url(), '30');
      await said(child, 'migrating');
      await new Promise((wake) => setTimeout(wake, 700));
      expect(child.exitCode).toBeNull();
      child.kill('SIGKILL');
      await once(child, 'close');
      const again = await openStore({ url: database.url(), clock });
      expect(await again.inbox.waiting('web:c1')).toBe(1);
      await again.close();
      expect(await readSchema(raw)).toEqual(before);
      expect(await stepsOf(raw)).toEqual(known);
    });

    it('applies each migration once when four processes start at the same time', {
      timeout: 60_000,
    }, async () => {
      const children = Array.from({ length: 4 }, () => spawnMigration(database.url()));
      await Promise.all(children.map((child) => said(child, 'migrated')));
      const rows = await raw.read((sql) =>
        sql.all(defineDynamicStatement('select text from mark')),
      );
      expect(rows).toEqual([{ text: 'once' }]);
      expect(await stepsOf(raw)).toEqual([...known, { number: 1_000_000, name: 'mark' }]);
    });

    it('handle several simultaneous requests without interference', async () => {
      const starts = Array.from({ length: 4 }, () =>
        migrate(raw, [...MIGRATIONS, NOTE], 'db', clock),
      );
      await Promise.all(starts);
      expect(await stepsOf(raw)).toHaveLength(known.length + 1);
    });

    it('refuses data from a newer version of Parley without changing schema or rows', async () => {
      const future = "insert into parley_migration values (9999, 'future', '7.3.0', 0)";
      await raw.change('power-cut', defineDynamicStatement(future));
      const before = await readSchema(raw);
      const opening = openStore({ url: database.url(), clock });
      await expect(opening).rejects.toMatchObject({
        code: 'store-newer',
        retryable: false,
        message: expect.stringMatching(/written by Parley 7\.3\.0.*Update Parley, or use another/),
      });
      expect(await readSchema(raw)).toEqual(before);
      const rows = await raw.read((sql) =>
        sql.all(defineDynamicStatement('select message_id, state from inbox')),
      );
      expect(rows).toEqual([{ message_id: 'm1', state: 'waiting' }]);
    });
  });
}

function spawnMigration(url: string, seconds = '0'): ChildProcess {
  const program = join(import.meta.dirname, 'testing', 'migrate-program.ts');
  return spawn(process.execPath, [program, url, seconds], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

/** Resolves when the child process has written this text; rejects if the process ends first. */
async function said(child: ChildProcess, words: string): Promise<void> {
  let out = '';
  for await (const text of child.stdout?.setEncoding('utf8') ?? []) {
    out += String(text);
    if (out.includes(words)) return;
  }
  throw new Error(`It ended without "${words}".`);
}

function stepsOf(database: Database) {
  const steps = defineDynamicStatement('select number, name from parley_migration order by number');
  return database.read((sql) => sql.all(steps));
}
