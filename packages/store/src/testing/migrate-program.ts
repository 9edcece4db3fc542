import { setTimeout as wait } from 'node:timers/promises';
import { parseStoreUrl } from '../database.ts';
import { MIGRATIONS, type Migration, migrate } from '../migrate.ts';
import { openPostgres } from '../postgres/open-postgres.ts';
import { openSqlite } from '../sqlite/open-sqlite.ts';

// Runs as a separate process: `migrate-program.ts URL [SECONDS]` applies a last migration that
// takes the given time and leaves a trace, and reports when it is halfway through.
const [url = '', seconds = '0'] = process.argv.slice(2);

const COUNTING =
  'with recursive n (i) as (select 1 union all select i + 1 from n where i < 2000000000)';
const SLOW: Migration = {
  number: 1_000_001,
  name: 'slow',
  statements: (dialect) => [
    'create table half_done (text text not null)',
    dialect === 'sqlite' ? `${COUNTING} select max(i) from n` : `select pg_sleep(${seconds})`,
  ],
};
const MARK: Migration = {
  number: 1_000_000,
  name: 'mark',
  statements: () => ['create table mark (text text not null)', "insert into mark values ('once')"],
};

const address = parseStoreUrl(url);
const database = address.dialect === 'sqlite' ? openSqlite(address) : await openPostgres(address);
const slow = Number(seconds) > 0;
// On SQLite, no other code runs in this process during a statement, so the report is sent just
// before the statement.
if (slow) process.stdout.write('migrating\n');
await wait(1);
await migrate(database, [...MIGRATIONS, MARK, ...(slow ? [SLOW] : [])], 'db', () => 0);
await database.close();
process.stdout.write('migrated\n');
