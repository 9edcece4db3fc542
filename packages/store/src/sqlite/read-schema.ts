import { copyFileSync, linkSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import type { AppliedStep } from '../migrate.ts';

/** A log is a few megabytes; copying a much larger one would hold up the start. */
const LARGEST_LOG_BYTES = 64 * 1024 * 1024;

/**
 * The steps that a SQLite file has seen, without touching a byte of it or of its side files. Opening it
 * as usual would write: it takes over the log of a killed process. Null where this is unknown (no
 * such file, not a database, a file system without links): then opening decides.
 */
export function readAppliedSteps(path: string): readonly AppliedStep[] | null {
  try {
    if (sizeOf(path) === 0) return null;
    const log = sizeOf(`${path}-wal`);
    if (log > LARGEST_LOG_BYTES) return null;
    return log === 0 ? withoutLog(path) : throughCopyOfLog(path);
  } catch {
    // Whatever is wrong with the file, opening it finds it too, and says it properly.
    return null;
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** Everything is in the file, so SQLite need neither lock it nor make side files. */
function withoutLog(path: string): readonly AppliedStep[] {
  const url = pathToFileURL(path);
  url.searchParams.set('immutable', '1');
  return stepsIn(new DatabaseSync(url, { readOnly: true }));
}

/** The log belongs to a name: under a second name of the same file a copy of it is read instead. */
function throughCopyOfLog(path: string): readonly AppliedStep[] {
  const folder = mkdtempSync(join(dirname(path), '.look-'));
  try {
    const other = join(folder, basename(path));
    linkSync(path, other);
    copyFileSync(`${path}-wal`, `${other}-wal`);
    return stepsIn(new DatabaseSync(other, { readOnly: true }));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function stepsIn(sqlite: DatabaseSync): readonly AppliedStep[] {
  try {
    const rows = sqlite.prepare('select number, parley_version from parley_migration').all();
    return rows.map((row) => ({
      number: Number(row.number),
      parley_version: String(row.parley_version),
    }));
  } finally {
    sqlite.close();
  }
}
