import { existsSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { type Database, parseStoreUrl, type StoreAddress } from './database.ts';
import {
  isUpToDate,
  MIGRATIONS,
  readAppliedMigrations,
  refuseUnknownMigration,
} from './migrate.ts';
import type { PostgresLimits } from './postgres/open-postgres.ts';
import { explainSqliteFailure } from './sqlite/open-sqlite.ts';

/**
 * `absent`: the database does not exist yet. `behind`: opening the database would migrate its
 * schema.
 */
export interface DatabaseState {
  readonly kind: 'absent' | 'behind' | 'current';
  readonly dialect: StoreAddress['dialect'];
  /** The database address without a password. */
  readonly name: string;
  /** The size of the SQLite file without its log, in bytes; null for a server. */
  readonly bytes: number | null;
}

/**
 * Checking a larger file takes too long for a waiting person; damage in it is detected during use.
 */
const LARGEST_CHECKED_BYTES = 256 * 1024 * 1024;

/**
 * Inspects a database without changing anything, not even its schema, which `openStore` would
 * migrate. Throws StoreError: `store-newer`, `store-older`, `store-damaged`, `store-unreachable`,
 * `store-refused`.
 */
export async function readDatabaseState({
  url,
  ...limits
}: { readonly url: string } & PostgresLimits): Promise<DatabaseState> {
  const address = parseStoreUrl(url);
  const { name, dialect } = address;
  if (address.dialect === 'sqlite') return { ...inspectDatabaseFile(address), name, dialect };
  const { openPostgres } = await import('./postgres/open-postgres.ts');
  const database: Database = await openPostgres({ ...limits, ...address });
  try {
    const isCurrent = await isUpToDate(database, MIGRATIONS, name);
    return { kind: isCurrent ? 'current' : 'behind', name, dialect, bytes: null };
  } finally {
    await database.close();
  }
}

function inspectDatabaseFile({
  path,
  name,
}: Extract<StoreAddress, { dialect: 'sqlite' }>): Pick<DatabaseState, 'kind' | 'bytes'> {
  const bytes = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (bytes === 0) return { kind: 'absent', bytes };
  const steps = readAppliedMigrations(path);
  refuseUnknownMigration(steps ?? [], MIGRATIONS, name);
  if (steps === null || bytes <= LARGEST_CHECKED_BYTES) refuseDamagedFile(path, name);
  return { kind: (steps ?? []).length < MIGRATIONS.length ? 'behind' : 'current', bytes };
}

/** Runs SQLite's built-in check on the file, over a read-only connection. */
function refuseDamagedFile(path: string, name: string): void {
  try {
    // Without a log, no process has the file open. SQLite does not create side files for a database
    // opened as immutable.
    const hasLog = existsSync(`${path}-wal`);
    const url = pathToFileURL(path);
    url.searchParams.set('immutable', '1');
    const sqlite = new DatabaseSync(hasLog ? path : url, { readOnly: true, timeout: 1_000 });
    try {
      const result = sqlite.prepare('pragma quick_check(1)').get();
      if (result?.quick_check === 'ok') return;
      throw Object.assign(new Error(String(result?.quick_check)), { errcode: SQLITE_CORRUPT });
    } finally {
      sqlite.close();
    }
  } catch (reason) {
    throw explainSqliteFailure(name, reason);
  }
}

const SQLITE_CORRUPT = 11;
