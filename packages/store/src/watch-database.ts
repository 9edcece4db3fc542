import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type Logger, reasonOf } from '@parley/core';
import {
  type Database,
  defineStatement,
  IN_MEMORY,
  type StoreAddress,
  StoreError,
  type StoreErrorCode,
} from './database.ts';
import { explainSqliteFailure } from './sqlite/open-sqlite.ts';

/** A database that tracks its current failure. */
export interface WatchedDatabase extends Database {
  /** The database's current failure, with the remedy; null if none is known. */
  trouble(): StoreError | null;
  /** Checks the database now; rejects with its failure if it has one. */
  check(): Promise<void>;
}

/**
 * SQLite needs some pages for each commit, so a disk with less free space than this counts as full.
 */
const MIN_ROOM_BYTES = 256 * 1024;

/** What ends each failure: a successful read, a successful write, or only another database. */
const ENDED_BY: Partial<Record<StoreErrorCode, 'read' | 'write' | 'nothing'>> = {
  'store-unreachable': 'read',
  'store-refused': 'read',
  'store-full': 'write',
  'store-unwritable': 'write',
  'store-damaged': 'nothing',
};

/**
 * Whether a database with this failure may work again while this process runs, either by itself or
 * after a person frees disk space.
 */
export function isTemporaryFailure(error: unknown): boolean {
  if (!(error instanceof StoreError)) return false;
  const end = ENDED_BY[error.code];
  return error.retryable || end === 'read' || end === 'write';
}

/**
 * Tracks a failure (unreachable, full, not writable, damaged) from the first query that finds it
 * until the database works again, and logs it as a single outage. Damage is tracked permanently,
 * even if other pages are still readable.
 */
export function watchDatabase(
  database: Database,
  address: StoreAddress,
  log: Logger,
): WatchedDatabase {
  const { name } = address;
  let trouble: StoreError | null = null;
  const failed = (reason: unknown): void => {
    if (!(reason instanceof StoreError) || ENDED_BY[reason.code] === undefined) return;
    if (trouble?.code !== 'store-damaged') trouble = reason;
    const level = reason.retryable ? 'warn' : 'error';
    log[level]({ outage: name, code: reason.code, reason: reasonOf(reason) }, LOG_TEXT[level]);
  };
  const worked = (kind: 'read' | 'write'): void => {
    if (trouble === null) return;
    const end = ENDED_BY[trouble.code];
    if (end !== kind && !(end === 'read' && kind === 'write')) return;
    trouble = null;
    log.info({ recovered: name }, 'the database works again');
  };
  const watched = <T>(kind: 'read' | 'write', result: Promise<T>): Promise<T> =>
    result.then(
      (value) => {
        worked(kind);
        return value;
      },
      (reason) => {
        failed(reason);
        throw reason;
      },
    );
  const read: Database['read'] = (work) => watched('read', database.read(work));
  const write: Database['write'] = (work, durability) =>
    watched('write', database.write(work, durability));
  return {
    dialect: database.dialect,
    trouble: () => trouble,
    async check() {
      await read((sql) => sql.get(ONE));
      if (address.dialect === 'sqlite') await checkDiskSpace(address);
      // Space may have been freed since the last write.
      if (address.dialect === 'sqlite' && trouble !== null)
        await write((sql) => sql.run(WRITE_NOTHING));
      if (trouble !== null) throw trouble;
    },
    read,
    write,
    change: (durability, statement, ...params) =>
      watched('write', database.change(durability, statement, ...params)),
    writePriority: (work) => watched('write', database.writePriority(work)),
    writeUnlimited: (work) => watched('write', database.writeUnlimited(work)),
    onConnect: (check) => database.onConnect(check),
    historyVersion: () => database.historyVersion(),
    close: () => database.close(),
  };
}

/**
 * The free space is checked because a read succeeds on a full disk, and even a small write may
 * succeed if the log has room.
 */
async function checkDiskSpace({ path, name }: StoreAddress & { dialect: 'sqlite' }): Promise<void> {
  if (path === IN_MEMORY) return;
  const { bavail, bsize } = await statfs(dirname(path));
  if (bavail * bsize >= MIN_ROOM_BYTES) return;
  const full = Object.assign(new Error('no room'), { code: 'ENOSPC' });
  throw explainSqliteFailure(name, full);
}

const ONE = defineStatement('select 1');

const WRITE_NOTHING = defineStatement('pragma user_version = 0');

const LOG_TEXT = {
  warn: 'the database does not answer; retrying',
  error: 'the database cannot be used until this is fixed',
} as const;
