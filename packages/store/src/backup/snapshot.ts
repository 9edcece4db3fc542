import { parseStoreUrl } from '../database.ts';
import { MIGRATIONS } from '../migrations.ts';
import { snapshotOfPostgres } from './snapshot-postgres.ts';
import { snapshotOfSqlite } from './snapshot-sqlite.ts';
import type { BackupRows, BackupSchema } from './tables.ts';

/** All that one database holds at one moment, while others go on writing to it. */
export interface StoreSnapshot extends BackupSchema, AsyncDisposable {
  readonly dialect: 'sqlite' | 'postgres';
  /** All rows, table after table, some at a time: memory stays bounded by the largest row. */
  rows(): AsyncIterable<BackupRows>;
}

/**
 * Opens a database for reading alone, beside the processes that work with it. Throws StoreErrors:
 * `store-newer` when a newer Parley wrote it, `store-missing` when nothing is there.
 */
export async function openSnapshot(url: string): Promise<StoreSnapshot> {
  const address = parseStoreUrl(url);
  return address.dialect === 'sqlite'
    ? snapshotOfSqlite(address, MIGRATIONS)
    : await snapshotOfPostgres(address, MIGRATIONS);
}
