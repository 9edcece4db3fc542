import { type Logger, reasonOf } from '@parley/contracts';
import type { Database } from './database.ts';
import { StoreError, type StoreErrorCode } from './store-error.ts';

/** A database and what is wrong with it now. */
export interface WatchedDatabase extends Database {
  /** What stops it from working, and what to do about it; null while nothing is known to. */
  trouble(): StoreError | null;
}

/** What ends each trouble: an answer, a write that succeeds, or nothing but another database. */
const ENDED_BY: Partial<Record<StoreErrorCode, 'read' | 'write' | 'nothing'>> = {
  'store-unreachable': 'read',
  'store-refused': 'read',
  'store-full': 'write',
  'store-unwritable': 'write',
  'store-damaged': 'nothing',
};

/**
 * Remembers that the database is away, full, not writable or damaged, from the first query that finds
 * it until it works again, and logs it as one outage. Damage stays: other pages can still be read.
 */
export function watchDatabase(database: Database, name: string, log: Logger): WatchedDatabase {
  let trouble: StoreError | null = null;
  const failed = (reason: unknown): void => {
    if (!(reason instanceof StoreError) || ENDED_BY[reason.code] === undefined) return;
    if (trouble?.code !== 'store-damaged') trouble = reason;
    const level = reason.retryable ? 'warn' : 'error';
    log[level]({ outage: name, code: reason.code, reason: reasonOf(reason) }, TOLD[level]);
  };
  const worked = (kind: 'read' | 'write'): void => {
    if (trouble === null) return;
    const end = ENDED_BY[trouble.code];
    if (end !== kind && !(end === 'read' && kind === 'write')) return;
    trouble = null;
    log.info({ recovered: name }, 'the database works again');
  };
  const watched = async <T>(kind: 'read' | 'write', work: () => Promise<T>): Promise<T> => {
    try {
      const result = await work();
      worked(kind);
      return result;
    } catch (reason) {
      failed(reason);
      throw reason;
    }
  };
  return {
    dialect: database.dialect,
    trouble: () => trouble,
    read: (work) => watched('read', () => database.read(work)),
    write: (work, durability) => watched('write', () => database.write(work, durability)),
    close: () => database.close(),
  };
}

const TOLD = {
  warn: 'the database does not answer; Parley tries again',
  error: 'the database cannot be used until this is put right',
} as const;
