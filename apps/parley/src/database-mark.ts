import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { type Logger, pluralize, reasonOf } from '@parley/core';
import { startSweep, type WakeUpQueue } from '@parley/queue';
import type { Store, StoreMark, StoreRollback } from '@parley/store';
import { z } from 'zod';
import { CliError, type DataFolder, formatCommandLine } from './data-folder.ts';
import type { LoadedSettings } from './settings.ts';

/** The last seen state of the database, as stored in the data folder. */
const MarkFile = z.object({
  /**
   * The database address without its password. If the address differs, it is a different database.
   */
  place: z.string(),
  name: z.string(),
  counter: z.int(),
});

/**
 * Discord's read positions, which determine which messages are fetched after a reconnect. After a
 * rollback, they point to messages that were already answered, which would be answered again.
 */
export const READ_SO_FAR = [{ channel: 'discord', kind: 'seen' }];

type StoreLocation = Pick<DataFolder, 'storeUrl'>;
type StoreSettings = Pick<LoadedSettings['settings'], 'store'>;

function getDatabaseLocation(
  { storeUrl }: StoreLocation,
  { store: { url } }: StoreSettings,
): string {
  if (url === undefined) return storeUrl;
  const { host, pathname } = new URL(url);
  return `postgres://${host}${pathname}`;
}

/**
 * Reads the mark of this database; null if there is none. A partly written mark file, left by a
 * killed process, is ignored.
 */
export function readStoreMark(
  folder: StoreLocation & Pick<DataFolder, 'databaseMark'>,
  settings: StoreSettings,
): StoreMark | null {
  try {
    const { place, ...mark } = MarkFile.parse(
      JSON.parse(readFileSync(folder.databaseMark, 'utf8')),
    );
    return place === getDatabaseLocation(folder, settings) ? mark : null;
  } catch {
    return null;
  }
}

function writeStoreMark(folder: DataFolder, settings: StoreSettings, mark: StoreMark): void {
  const draft = `${folder.databaseMark}.${process.pid}`;
  try {
    const file = { place: getDatabaseLocation(folder, settings), ...mark };
    writeFileSync(draft, `${JSON.stringify(file)}\n`, { mode: 0o600 });
    renameSync(draft, folder.databaseMark);
  } finally {
    rmSync(draft, { force: true });
  }
}

/**
 * Throws CliError `database-missing` if the data folder has been used but its database is empty or
 * missing. Version 0.1.0 did not write a mark. Without a mark, a database of 0 bytes counts as lost
 * if it is accompanied by files that only a running gateway creates.
 */
export function assertDatabaseNotLost(folder: DataFolder, settings: StoreSettings): void {
  if (settings.store.url !== undefined) return;
  const path = folder.storeUrl.replace(/^sqlite:/, '');
  const size = getFileSize(path);
  if (size !== null && size > 0) return;
  const isUsed =
    readStoreMark(folder, settings) !== null ||
    (size === 0 && (getFileSize(folder.sendNotes) !== null || getFileSize(`${path}-wal`) !== null));
  if (!isUsed) return;
  const what = size === null ? 'is gone' : 'is empty (0 bytes)';
  throw createMissingDatabaseError(folder, `The database ${path} ${what}`);
}

/**
 * Creates the error for a missing or empty database, which may be on a server. `what` describes
 * what was found.
 */
export function createMissingDatabaseError(
  folder: DataFolder,
  what: string,
  cause?: unknown,
): CliError {
  return new CliError(
    'database-missing',
    `${what}, but the data folder ${folder.path} has been used with it. Nothing was changed. Put the database back, or restore a backup with "${formatCommandLine('restore FILE', folder)}". To start with an empty database, first remove ${folder.databaseMark} and ${folder.sendNotes}.`,
    cause,
  );
}

function getFileSize(path: string): number | null {
  return statSync(path, { throwIfNoEntry: false })?.size ?? null;
}

export interface StoreMarkDeps {
  readonly folder: DataFolder;
  readonly settings: StoreSettings;
  readonly store: Pick<Store, 'state'>;
  readonly turns: Pick<WakeUpQueue, 'remember'>;
  readonly log: Logger;
}

/**
 * How often (ms) the mark is updated. Processes that share a database increment its counter with
 * their leases. A single process increments the counter at this interval.
 */
const SHARED_INTERVAL_MS = 7_000;
const ALONE_INTERVAL_MS = 10 * 60_000;

/**
 * Compares the database with the newest state recorded in the data folder and in Redis, before any
 * work is accepted. Then keeps both records up to date. The returned function stops the updates.
 */
export async function trackStoreMark(deps: StoreMarkDeps): Promise<() => Promise<void>> {
  const { folder, settings, store, turns, log } = deps;
  const { state } = store;
  let written = '';
  const keep = async (): Promise<void> => {
    if (state.seen === null) return;
    const { name, counter } = state.seen;
    const highest = await turns.remember(name, counter).catch((error: unknown) => {
      log.debug(
        { reason: reasonOf(error) },
        'the queue does not report the last seen state of the database',
      );
      return counter;
    });
    if (highest > counter) state.expect({ name, counter: highest });
    const line = JSON.stringify(state.seen);
    if (line === written) return;
    writeStoreMark(folder, settings, state.seen);
    written = line;
  };
  await state.advance();
  const found = state.seen?.counter;
  await keep();
  // Redis has seen a newer state than the database contains.
  if (state.seen?.counter !== found) await state.advance();
  const isShared = settings.store.url !== undefined;
  const sweep = startSweep(
    'database mark',
    isShared ? SHARED_INTERVAL_MS : ALONE_INTERVAL_MS,
    log,
    async () => {
      if (!isShared) await state.advance();
      await keep();
    },
  );
  return async () => {
    await sweep.stop();
    if (!isShared) await state.advance().catch(() => undefined);
    await keep().catch(() => undefined);
  };
}

/** Formats an explanation for people of a database rollback. */
export function describeRollback(
  { at, turns, parts }: StoreRollback,
  folder: Pick<DataFolder, 'path'>,
): string {
  const held = `${pluralize(turns, 'conversation')} without an answer and ${pluralize(parts, 'answer part')}`;
  return `At ${new Date(at).toISOString()}, Parley found that the database had been rolled back, for example by a failover to a lagging replica or by restoring an older copy. The latest changes are lost. Some work may have been done already, so it is held back as dead letters: ${held}. List them with "${formatCommandLine('dead list', folder)}".`;
}
