import {
  chmodSync,
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  write,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { resolveFileAgingStart } from '../aging.ts';
import { systemTime } from '../time.ts';
import type { LogDestination } from './logger.ts';

/** A log that outlives the process. */
export interface PersistentLog extends LogDestination {
  /** Flushes pending lines and stops writing. */
  close(): void;
}

export interface PersistentLogOptions {
  /**
   * The folder, which is created if needed; other processes may store their files in it as well.
   */
  readonly folder: string;
  /** The name of this process in the folder: `all-host-4711`. */
  readonly name: string;
  /** The total size of all files in the folder, in bytes. */
  readonly bytes: number;
  readonly now: number;
}

/** The age in ms at which files are removed at startup. */
const KEPT_MS = 14 * 24 * 60 * 60_000;
/**
 * A process has its current file and the previous one; each takes at most this fraction of the
 * total.
 */
const SHARE = 8;
/**
 * The interval in ms at which collected lines are written together, so that no message waits for
 * the disk.
 */
const TOGETHER_MS = 100;
/**
 * The maximum amount of text that may wait to be written, in characters, because a hanging disk
 * must not fill the memory.
 */
const MAX_WAITING = 1_000_000;

/**
 * Stores the lines of this process in a separate file (U03). Never throws and never blocks: lines
 * that cannot be written are missing in the file but appear on standard error. A killed process
 * loses the last 100 ms.
 */
export function openPersistentLog(options: PersistentLogOptions): PersistentLog {
  const path = join(options.folder, `${options.name}.log`);
  const largest = Math.floor(options.bytes / SHARE);
  let file: { readonly fd: number; size: number } | null = null;
  let waiting = '';
  let lost = 0;
  let timer: NodeJS.Timeout | undefined;
  let isWriting = false;
  const open = (): void => {
    try {
      const fd = openSync(path, 'a', 0o600);
      file = { fd, size: statSync(path).size };
    } catch {
      file = null;
    }
  };
  const taken = (): Buffer | null => {
    if (file === null || waiting === '') return null;
    if (lost > 0) waiting += formatDroppedLinesNotice(lost);
    const bytes = Buffer.from(waiting);
    waiting = '';
    lost = 0;
    if (file.size > 0 && file.size + bytes.length > largest) {
      rotateLog(path, file.fd);
      open();
    }
    if (file !== null) file.size += bytes.length;
    return bytes;
  };
  const flush = (): void => {
    timer = undefined;
    if (isWriting) return;
    const bytes = taken();
    if (bytes === null || file === null) return;
    isWriting = true;
    write(file.fd, bytes, () => {
      isWriting = false;
      if (waiting !== '') schedule();
    });
  };
  const schedule = (): void => {
    timer ??= setTimeout(flush, TOGETHER_MS).unref();
  };
  const last = (): void => {
    const bytes = taken();
    if (bytes === null || file === null) return;
    try {
      writeSync(file.fd, bytes);
    } catch {
      // The error cannot be reported anywhere.
    }
  };
  try {
    mkdirSync(options.folder, { recursive: true, mode: 0o700 });
    chmodSync(options.folder, 0o700);
    removeOldLogs(options);
  } catch {
    // Opening the file then fails as well.
  }
  open();
  // Writes the last lines of a process that exits by itself, even because of an uncaught error.
  process.on('exit', last);
  return {
    write(line) {
      if (file === null) return;
      if (waiting.length + line.length > MAX_WAITING) lost += 1;
      else waiting += line;
      schedule();
    },
    close() {
      clearTimeout(timer);
      process.off('exit', last);
      last();
      if (file !== null && !isWriting) closeSync(file.fd);
      file = null;
    },
  };
}

function formatDroppedLinesNotice(lines: number): string {
  const time = new Date(systemTime.clock()).toISOString();
  return `${JSON.stringify({ time, level: 'warn', lines, msg: 'lines of the log were not kept' })}\n`;
}

function rotateLog(path: string, fd: number): void {
  try {
    renameSync(path, `${path}.1`);
    closeSync(fd);
  } catch {
    // The file keeps growing; the next start removes it.
  }
}

/** Removes old files of processes that no longer run, so that the folder stays within its limit. */
function removeOldLogs({ folder, name, bytes, now }: PersistentLogOptions): void {
  const files = readdirSync(folder)
    .filter((file) => /\.log(?:\.1)?$/.test(file))
    .map((file) => {
      const path = join(folder, file);
      const { size, mtimeMs: at } = statSync(path);
      return { path, size, at, isOwn: file.startsWith(`${name}.log`) };
    })
    .toSorted((a, b) => b.at - a.at);
  const countFrom = resolveFileAgingStart(now, files[0]?.at ?? null);
  // This process may fill two more files.
  let left = bytes - 2 * Math.floor(bytes / SHARE);
  for (const { path, size, at, isOwn } of files) {
    if (!isOwn) left -= size;
    if ((!isOwn && left < 0) || countFrom - at > KEPT_MS) rmSync(path, { force: true });
  }
}
