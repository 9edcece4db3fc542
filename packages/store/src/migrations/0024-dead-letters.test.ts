import { afterAll, beforeEach, describe, expect, inject, it } from 'vitest';
import type { Database } from '../database.ts';
import { raw } from '../kysely.ts';
import type { Store } from '../open-store.ts';
import { openStore } from '../open-store.ts';
import { openPostgres } from '../postgres/open-postgres.ts';
import { openSqlite } from '../sqlite/open-sqlite.ts';
import { parseStoreUrl } from '../store-url.ts';
import { bothDatabases } from '../testing/databases.ts';
import { part } from '../testing/messages.ts';
import { DEAD_LETTERS } from './steps-22-to-29.ts';

const C1 = { channel: 'web', account: 'default', chatId: 'c1' };

for (const database of bothDatabases(inject('postgresUrl'))) {
  describe.runIf(database.available)(
    `what was given up before there were letters on ${database.name}`,
    () => {
      let store: Store;
      beforeEach(async () => {
        store = await database.openEmpty();
      });
      afterAll(() => database.dispose());

      async function giveUp(text: string, state: 'failed' | 'unknown'): Promise<void> {
        await store.outbox.enqueue([part(text)], 0);
        const id = (await store.outbox.next(C1))?.part.id ?? '';
        await store.outbox.markSending(id, 5);
        await store.outbox.giveUp(id, state, 'blocked', 5, part('a notice'));
        const notice = (await store.outbox.next(C1))?.part.id ?? '';
        await store.outbox.markSending(notice, 6);
        await store.outbox.giveUp(notice, 'failed', 'blocked', 6, null);
      }
      async function open(): Promise<Database> {
        const address = parseStoreUrl(database.url());
        return address.dialect === 'sqlite' ? openSqlite(address) : await openPostgres(address);
      }

      it('[D06] becomes a letter by the upgrade, but for notices', async () => {
        await giveUp('a', 'failed');
        await giveUp('b', 'unknown');
        await store.close();
        const older = await open();
        await older.write(async (sql) => {
          await raw`drop table dead_letter`.execute(sql);
          await sql
            .deleteFrom('parley_migration')
            .where('number', '=', DEAD_LETTERS.number)
            .execute();
        });
        await older.close();
        const newer = await openStore({ url: database.url(), clock: () => 0 });
        expect(await newer.deadLetters.open({ limit: 9 })).toMatchObject([
          { id: 2, kind: 'uncertain', text: 'b', diedAt: 5 },
          { id: 1, kind: 'refused', text: 'a', diedAt: 5 },
        ]);
        await newer.close();
      });
    },
  );
}
