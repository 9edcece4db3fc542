import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import { IN_MEMORY } from '../database.ts';
import { MIGRATIONS, migrate } from '../migrate.ts';
import { openStore } from '../open-store.ts';
import { openSqlite } from '../sqlite/open-sqlite.ts';
import { readSchema } from './databases.ts';
import { createEmptyTables, openMemoryStore, writeEmptyDatabase } from './memory-store.ts';
import { createMessage, createTestRoute } from './messages.ts';

describe('an in-memory store for tests', () => {
  it('[D15] creates the same tables in memory as the migrations', async () => {
    const made = openSqlite({ path: IN_MEMORY, name: 'made' });
    await migrate(made, MIGRATIONS, 'made', () => 0);
    const copied = openSqlite({
      path: IN_MEMORY,
      name: 'copied',
      content: await createEmptyTables(),
    });
    expect(await readSchema(copied)).toEqual(await readSchema(made));
    await made.close();
    await copied.close();
  });

  it('[D15] does not share rows with another store', async () => {
    const [one, other] = [
      await openMemoryStore({ clock: () => 0 }),
      await openMemoryStore({ clock: () => 0 }),
    ];
    await one.inbox.accept(createMessage('m1'));
    expect(await one.inbox.recent(createTestRoute('c1'), 9)).toHaveLength(1);
    expect(await other.inbox.recent(createTestRoute('c1'), 9)).toEqual([]);
    await one.close();
    await other.close();
  });
});

describe('a file with empty tables for tests', () => {
  it('[D15] writes the same file as the first start, readable only by its owner', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-empty-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const [made, copied] = [join(folder, 'made.db'), join(folder, 'copied.db')];
    await (await openStore({ url: `sqlite:${made}`, clock: () => 0 })).close();
    await writeEmptyDatabase(copied);
    expect(look(copied)).toEqual(look(made));
    await expect(writeEmptyDatabase(copied)).rejects.toMatchObject({ code: 'EEXIST' });
  });
});

/** Describes a database file by its tables, migrations, pragmas and permissions. */
function look(path: string) {
  const sqlite = new DatabaseSync(path, { readOnly: true });
  try {
    return {
      schema: sqlite.prepare('select type, name, sql from sqlite_master order by type, name').all(),
      steps: sqlite.prepare('select * from parley_migration order by number').all(),
      pragmas: ['auto_vacuum', 'journal_mode', 'page_size', 'encoding'].map((name) =>
        sqlite.prepare(`pragma ${name}`).get(),
      ),
      mode: statSync(path).mode,
    };
  } finally {
    sqlite.close();
  }
}
