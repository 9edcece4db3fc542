import { composed, type Database, type Sql, statement } from '../database.ts';
import { APPLIED, refuseUnknown } from '../migrate.ts';
import { MIGRATIONS } from '../migrations.ts';
import { type CarriedOver, type CarryOrder, carryOver } from './carry-over.ts';
import { quoted, tablesOf } from './tables.ts';

/** The schemas of PostgreSQL that a restore works with; null on SQLite, which has a file of its own. */
interface Staging {
  readonly live: string;
  readonly staging: string;
  readonly aside: string;
}

/**
 * On PostgreSQL the rows are put into a schema of their own first, so that processes which run meanwhile
 * have to wait for the exchange at the end alone. Throws StoreError `store-newer` for the data of a newer Parley.
 */
export async function enterStaging(
  { dialect }: Database,
  sql: Sql,
  name: string,
  now: number,
): Promise<Staging | null> {
  if (dialect === 'sqlite') return null;
  const { live } = (await sql.get(CURRENT)) ?? { live: 'public' };
  if ((await presentIn(sql, live, ['parley_migration'])).length > 0) {
    refuseUnknown(await sql.all(APPLIED), MIGRATIONS, name);
  }
  const stamp = new Date(now).toISOString().replaceAll(/\D/g, '');
  const staging = `${live}_restoring`;
  // It waits for nothing but the disk of this process.
  await sql.run(composed('set local idle_in_transaction_session_timeout = 0'));
  await sql.run(composed(`create schema ${quoted(staging)}`));
  await sql.run(composed(`set local search_path to ${quoted(staging)}`));
  return { live, staging, aside: `${live}_before_restore_${stamp}` };
}

const CURRENT = statement('select current_schema() as live').rows<{ readonly live: string }>();

const tableIn = (schema: string, table: string) => `${quoted(schema)}.${quoted(table)}`;

/** `aside`: the schema of what was there before; `carried`: what of it goes on. Null where there was nothing. */
interface PutInPlace {
  readonly aside: string | null;
  readonly carried: CarriedOver | null;
}

/**
 * Exchanges the tables: what was live lies in a schema aside, whole, and nothing is deleted. Running
 * workers are fenced: the epoch of every lane is past the one they hold.
 */
export async function putInPlace(
  database: Database,
  sql: Sql,
  target: Staging | null,
  order: CarryOrder,
): Promise<PutInPlace> {
  if (target === null) return { aside: null, carried: null };
  const { live, staging, aside } = target;
  let carried: CarriedOver | null = null;
  const ours = ['parley_migration', ...tablesOf(MIGRATIONS)];
  const old = await presentIn(sql, live, ours);
  if (old.length > 0) {
    const names = old.map((table) => tableIn(live, table)).join(', ');
    await sql.run(composed(`lock table ${names} in access exclusive mode`));
    if (old.includes('conversation')) await passEpochs(sql, target);
    if (old.includes('parley_migration')) carried = await carryOver(database, sql, live, order);
    // Who holds a channel goes on holding it, and knows nothing of the exchange.
    for (const table of ['lease', 'process'].filter((name) => old.includes(name))) {
      const [to, from] = [tableIn(staging, table), tableIn(live, table)];
      await sql.run(composed(`insert into ${to} select * from ${from}`));
    }
    await sql.run(composed(`create schema ${quoted(aside)}`));
  }
  await move(sql, old, live, aside);
  await move(sql, ours, staging, live);
  await sql.run(composed(`drop schema ${quoted(staging)}`));
  return { aside: old.length > 0 ? aside : null, carried };
}

async function presentIn(sql: Sql, schema: string, tables: readonly string[]) {
  const there = new Set((await sql.all(TABLES, { schema })).map(({ name }) => name));
  return tables.filter((name) => there.has(name));
}

const TABLES = statement(
  'select tablename as name from pg_tables where schemaname = :schema',
).rows<{
  readonly name: string;
}>();

async function passEpochs(sql: Sql, { live, staging }: Staging): Promise<void> {
  await sql.run(
    composed(`update ${tableIn(staging, 'conversation')} restored
      set epoch = greatest(restored.epoch, before.epoch + 1)
      from ${tableIn(live, 'conversation')} before where before.id = restored.id`),
  );
}

async function move(sql: Sql, tables: readonly string[], from: string, to: string) {
  for (const table of tables) {
    await sql.run(composed(`alter table ${tableIn(from, table)} set schema ${quoted(to)}`));
  }
}

/** No worker holds a lane of a restored database, and an earlier holder can write nothing more. */
export async function freeLanes(sql: Sql): Promise<void> {
  await sql.run(FREE_LANES);
  await sql.run(FREE_SUMMARIES);
}

const FREE_LANES = composed(
  'update conversation set epoch = epoch + 1, lease_owner = null, lease_until = null',
);

const FREE_SUMMARIES = composed(
  'update summary set claimed_by = null, claimed_until = 0 where claimed_by is not null',
);
