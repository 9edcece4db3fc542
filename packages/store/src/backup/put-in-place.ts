import type { Database, Sql } from '../database.ts';
import { raw } from '../kysely.ts';
import { refuseNewer } from '../migrate.ts';
import { MIGRATIONS } from '../migrations.ts';
import { type CarriedOver, type CarryOrder, carryOver } from './carry-over.ts';
import { tablesOf } from './tables.ts';

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
  const { rows } = await raw<{ live: string }>`select current_schema() as live`.execute(sql);
  const live = rows[0]?.live ?? 'public';
  if ((await presentIn(sql, live, ['parley_migration'])).length > 0) {
    const applied = await sql
      .selectFrom('parley_migration')
      .select(['number', 'parley_version'])
      .execute();
    refuseNewer(applied, MIGRATIONS, name);
  }
  const stamp = new Date(now).toISOString().replaceAll(/\D/g, '');
  const staging = `${live}_restoring`;
  // It waits for nothing but the disk of this process.
  await raw`set local idle_in_transaction_session_timeout = 0`.execute(sql);
  await raw`create schema ${raw.id(staging)}`.execute(sql);
  await raw`set local search_path to ${raw.id(staging)}`.execute(sql);
  return { live, staging, aside: `${live}_before_restore_${stamp}` };
}

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
    const names = raw.join(old.map((table) => raw.id(live, table)));
    await raw`lock table ${names} in access exclusive mode`.execute(sql);
    if (old.includes('conversation')) await passEpochs(sql, target);
    if (old.includes('parley_migration')) carried = await carryOver(database, sql, live, order);
    // Who holds a channel goes on holding it, and knows nothing of the exchange.
    for (const table of ['lease', 'process'].filter((name) => old.includes(name))) {
      await raw`insert into ${raw.id(staging, table)} select * from ${raw.id(live, table)}`.execute(
        sql,
      );
    }
    await raw`create schema ${raw.id(aside)}`.execute(sql);
  }
  await move(sql, old, live, aside);
  await move(sql, ours, staging, live);
  await raw`drop schema ${raw.id(staging)}`.execute(sql);
  return { aside: old.length > 0 ? aside : null, carried };
}

async function presentIn(sql: Sql, schema: string, tables: readonly string[]) {
  const { rows } = await raw<{
    name: string;
  }>`select tablename as name from pg_tables where schemaname = ${schema}`.execute(sql);
  const there = new Set(rows.map(({ name }) => name));
  return tables.filter((name) => there.has(name));
}

async function passEpochs(sql: Sql, { live, staging }: Staging): Promise<void> {
  await raw`update ${raw.id(staging, 'conversation')} restored
    set epoch = greatest(restored.epoch, before.epoch + 1)
    from ${raw.id(live, 'conversation')} before where before.id = restored.id`.execute(sql);
}

async function move(sql: Sql, tables: readonly string[], from: string, to: string) {
  for (const table of tables) {
    await raw`alter table ${raw.id(from, table)} set schema ${raw.id(to)}`.execute(sql);
  }
}

/** Nobody holds a lane of a restored database, and whoever held it before can write nothing more. */
export async function freeLanes(sql: Sql): Promise<void> {
  await sql
    .updateTable('conversation')
    .set((eb) => ({ epoch: eb('epoch', '+', 1), lease_owner: null, lease_until: null }))
    .execute();
  await sql
    .updateTable('summary')
    .set({ claimed_by: null, claimed_until: 0 })
    .where('claimed_by', 'is not', null)
    .execute();
}
