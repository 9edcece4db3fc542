import { type Clock, type Logger, type NewId, silentLogger } from '@parley/core';
import { parseStoreUrl } from './database.ts';
import { getFilesFolder } from './files/folder-bytes.ts';
import {
  MIGRATIONS,
  migrate,
  readAppliedMigrations,
  refuseEmptyServer,
  refuseMissingFile,
  refuseUnknownMigration,
} from './migrate.ts';
import type { PostgresLimits } from './postgres/open-postgres.ts';
import { openSqlite } from './sqlite/open-sqlite.ts';
import { createStore, type Store } from './store.ts';
import type { StoreMark } from './store-mark.ts';
import { type StateDeps, StoreState } from './store-state.ts';
import { createTimedIds } from './timed-ids.ts';
import { watchDatabase } from './watch-database.ts';

/**
 * The location of the database, and its sources of time and ids (by default the system clock and
 * random ids).
 */
export interface StoreOptions extends PostgresLimits {
  /** `sqlite:/abs/parley.db`, `sqlite::memory:` or `postgres://…`. */
  readonly url: string;
  readonly clock: Clock;
  /** A clock for leases that replaces the PostgreSQL server's clock in tests. */
  readonly sharedClock?: Clock;
  /** An in-memory test database with its tables, as serialized by SQLite. */
  readonly content?: Uint8Array;
  readonly newId?: NewId;
  /** How to handle a database that was rolled back; absent for CLI commands. */
  readonly state?: StateOptions;
  /** Logs outages; absent for CLI commands, which report the failure and exit. */
  readonly log?: Logger;
}

interface StateOptions extends Pick<StateDeps, 'forget' | 'onSetback'> {
  /** The last known mark of this database; null if the database has not been seen before. */
  readonly seen: StoreMark | null;
}

/**
 * Opens the database, creating or migrating it first. Throws StoreError: `store-url`,
 * `store-missing` if a known database is now empty, `store-newer`, `store-older`, `store-damaged`,
 * `store-unwritable`, `store-full`, `store-unreachable`, …
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  const address = parseStoreUrl(options.url);
  const { name } = address;
  const isKnown = options.state !== undefined && options.state.seen !== null;
  if (isKnown && address.dialect === 'sqlite') refuseMissingFile(address.path, name);
  const seen = address.dialect === 'sqlite' ? (readAppliedMigrations(address.path) ?? []) : [];
  refuseUnknownMigration(seen, MIGRATIONS, name);
  const database =
    address.dialect === 'sqlite'
      ? openSqlite({ ...address, content: options.content })
      : await (await import('./postgres/open-postgres.ts')).openPostgres({
          ...options,
          ...address,
        });
  try {
    if (isKnown && address.dialect === 'postgres') await refuseEmptyServer(database, name);
    if (seen.length < MIGRATIONS.length) await migrate(database, MIGRATIONS, name, options.clock);
  } catch (reason) {
    await database.close();
    throw reason;
  }
  const watched = watchDatabase(database, address, options.log ?? silentLogger);
  const { clock, sharedClock = address.dialect === 'sqlite' ? clock : () => null } = options;
  const newId = options.newId ?? createTimedIds(clock);
  const { seen: before = null, forget = [], onSetback = () => {} } = options.state ?? {};
  const state = new StoreState(watched, { clock, newId, forget, onSetback });
  if (before !== null) state.expect(before);
  watched.onConnect((write) => state.check(write));
  return createStore(watched, newId, { sharedClock, state, folder: getFilesFolder(address) });
}
