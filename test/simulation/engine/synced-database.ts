import {
  closeSync,
  copyFileSync,
  existsSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { endianness } from 'node:os';
import type { RandomChance } from './chance.ts';

/**
 * The index of the write-ahead log, as SQLite keeps it beside the file (sqlite.org/walformat.html,
 * section 2.1).
 */
interface LogIndex {
  /** The number of frames of committed transactions. */
  readonly frames: number;
  /** The number of frames already copied to the database file. */
  readonly copied: number;
  /** Changes when the log restarts. */
  readonly salt: bigint;
  readonly pageSize: number;
}

const INDEX_BYTES = 136;
const LOG_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;

/** The two files of a database as a power cut leaves them. */
export interface PowerCutFiles {
  readonly file: string;
  readonly log: Uint8Array;
  /** How many written bytes of the log are lost. */
  readonly lost: number;
}

/**
 * Tracks which part of a SQLite file with a write-ahead log is certainly on the disk: the file as
 * of the last checkpoint, which syncs it, and the log up to the last synced commit.
 */
export class SyncedDatabase {
  readonly path: string;
  /** The file as of the last checkpoint. */
  readonly #copy: string;
  #known: LogIndex | null = null;
  #syncedBytes = 0;

  constructor(path: string, copy: string) {
    this.path = path;
    this.#copy = copy;
  }

  /** Called after each commit and after anything that may have been a checkpoint. */
  note(isSynced: boolean): void {
    const now = this.#readIndex();
    if (now === null) return;
    const before = this.#known;
    if (before?.salt !== now.salt || before.copied !== now.copied) {
      copyFileSync(this.path, this.#copy);
      // A checkpoint syncs what it copies; a log that restarts syncs its header.
      const bytes = before?.salt === now.salt ? countBytes({ ...now, frames: now.copied }) : 0;
      const kept = before?.salt === now.salt ? this.#syncedBytes : LOG_HEADER_BYTES;
      this.#syncedBytes = before === null ? countBytes(now) : Math.max(bytes, kept);
    }
    this.#known = now;
    // A transaction without writes syncs nothing.
    const hasWritten = before?.salt !== now.salt || before.frames !== now.frames;
    if (isSynced && hasWritten) this.#syncedBytes = countBytes(now);
  }

  /** The disk content after a power cut at this moment, or null if nothing was ever synced. */
  cut(chance: RandomChance): PowerCutFiles | null {
    if (this.#known === null) return null;
    const written = this.#writtenLog();
    const synced = Math.min(this.#syncedBytes, written.length);
    const unsynced = written.length - synced;
    const end = synced + (chance.happens(0.5) ? 0 : Math.floor(chance.between(0, unsynced + 1)));
    return { file: this.#copy, log: written.slice(0, end), lost: written.length - end };
  }

  /** Copies the current database; returns null when it has not been used yet. */
  copyTo(file: string): PowerCutFiles | null {
    if (this.#known === null) return null;
    copyFileSync(this.path, file);
    return { file, log: this.#writtenLog(), lost: 0 };
  }

  /** Writes the files to the disk. All connections must be closed. */
  put({ file, log }: PowerCutFiles): void {
    for (const end of ['-wal', '-shm']) rmSync(this.path + end, { force: true });
    copyFileSync(file, this.path);
    if (log.length > 0) writeFileSync(`${this.path}-wal`, log);
    this.#known = null;
    this.#syncedBytes = 0;
  }

  /** The part of the log written by committed transactions. */
  #writtenLog(): Uint8Array {
    const path = `${this.path}-wal`;
    if (this.#known === null || !existsSync(path)) return new Uint8Array();
    return readFileSync(path).subarray(0, countBytes(this.#known));
  }

  #readIndex(): LogIndex | null {
    const path = `${this.path}-shm`;
    if (!existsSync(path)) return null;
    const bytes = new DataView(new ArrayBuffer(INDEX_BYTES));
    const file = openSync(path, 'r');
    try {
      if (readSync(file, bytes) < INDEX_BYTES) return null;
    } finally {
      closeSync(file);
    }
    const little = endianness() === 'LE';
    const isMade = bytes.getUint8(12) === 1;
    const size = bytes.getUint16(14, little);
    if (!isMade) return null;
    return {
      frames: bytes.getUint32(16, little),
      copied: bytes.getUint32(96, little),
      salt: bytes.getBigUint64(32, little),
      pageSize: size === 1 ? 65_536 : size,
    };
  }
}

function countBytes({ frames, pageSize }: LogIndex): number {
  return frames === 0 ? 0 : LOG_HEADER_BYTES + frames * (FRAME_HEADER_BYTES + pageSize);
}
