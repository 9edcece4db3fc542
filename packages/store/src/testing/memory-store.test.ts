import { describe, expect, it } from 'vitest';
import { IN_MEMORY } from '../database.ts';
import { MIGRATIONS, migrate } from '../migrate.ts';
import { openSqlite } from '../sqlite/open-sqlite.ts';
import { schemaOf } from './databases.ts';
import { emptyTables, openMemoryStore } from './memory-store.ts';
import { message, routeTo } from './messages.ts';

describe('a store in memory for tests', () => {
  it('[D15] has the tables that the migrations create', async () => {
    const made = openSqlite({ path: IN_MEMORY, name: 'made' });
    await migrate(made, MIGRATIONS, 'made', () => 0);
    const copied = openSqlite({ path: IN_MEMORY, name: 'copied', content: await emptyTables() });
    expect(await schemaOf(copied)).toEqual(await schemaOf(made));
    await made.close();
    await copied.close();
  });

  it('[D15] shares no row with another store', async () => {
    const [one, other] = [
      await openMemoryStore({ clock: () => 0 }),
      await openMemoryStore({ clock: () => 0 }),
    ];
    await one.inbox.accept(message('m1'));
    expect(await one.inbox.recent(routeTo('c1'), 9)).toHaveLength(1);
    expect(await other.inbox.recent(routeTo('c1'), 9)).toEqual([]);
    await one.close();
    await other.close();
  });
});
