import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { NewId } from '@parley/core';
import { isMissingFile } from '@parley/core';
import { IN_MEMORY, type StoreAddress } from '../database.ts';
import { explainSqliteFailure } from '../sqlite/open-sqlite.ts';
import { type ByteStore, PUT_TIMEOUT_MS } from './byte-store.ts';

/**
 * Returns the folder for a database's files, or null if the files are stored in the database
 * itself.
 */
export function getFilesFolder(address: StoreAddress): string | null {
  return address.dialect === 'sqlite' && address.path !== IN_MEMORY
    ? `${address.path}-files`
    : null;
}

/**
 * The number of bytes written at a time. Each chunk is synced before the next one, because a long
 * sync would delay the sync of a commit.
 */
const CHUNK = 1_024 * 1_024;
/**
 * The number of chunks written at the same time. Each write occupies one of the four threads in
 * Node's pool, which every turn needs to read its workspace files.
 */
const WRITES_AT_ONCE = 2;

/** Suffix of an incomplete file. */
const PART = '.part';
/** Suffix of a file whose bytes are being overwritten. */
const GONE = '.gone';
/** Ids come from rows, which may come from backups, so an id must not lead out of the folder. */
export const FILE_ID = /^[\w-]+$/;

/** Stores each file in a folder beside the database, readable only by its owner. */
export function createFolderByteStore(folder: string, newId: NewId): ByteStore {
  const inTurn = createConcurrencyLimiter(WRITES_AT_ONCE);
  const pathOf = (id: string) => join(folder, id);
  return {
    async put(bytes) {
      const id = newId('file');
      const part = `${pathOf(id)}${PART}`;
      try {
        await mkdir(folder, { recursive: true, mode: 0o700 });
        await writeSyncedFile(part, bytes, inTurn);
        await rename(part, pathOf(id));
        await inTurn(() => syncFolder(folder));
        return id;
      } catch (reason) {
        await rm(part, { force: true }).catch(() => undefined);
        throw explainSqliteFailure(folder, reason);
      }
    },
    async get(id, size) {
      if (!FILE_ID.test(id)) return null;
      try {
        const bytes = await readFile(pathOf(id));
        return bytes.byteLength === size ? bytes : null;
      } catch (reason) {
        if (isMissingFile(reason)) return null;
        throw explainSqliteFailure(folder, reason);
      }
    },
    has: async (id, size) =>
      FILE_ID.test(id) && (await stat(pathOf(id)).catch(ignoreMissingFile))?.size === size,
    async list() {
      const names = await readdir(folder).catch((reason: unknown) => {
        if (isMissingFile(reason)) return [];
        throw explainSqliteFailure(folder, reason);
      });
      return [...new Set(names.map((name) => name.replace(/\.(part|gone)$/, '')))].filter((id) =>
        FILE_ID.test(id),
      );
    },
    async remove(ids) {
      for (const id of ids.filter((one) => FILE_ID.test(one))) {
        await inTurn(() => overwriteFile(pathOf(id)));
        await rm(`${pathOf(id)}${PART}`, { force: true });
      }
    },
  };
}

export interface FolderUsage {
  readonly files: number;
  readonly bytes: number;
}

/** Counts the files in a folder. */
export async function measureFolder(folder: string): Promise<FolderUsage> {
  const names = await readdir(folder).catch(() => []);
  let bytes = 0;
  for (const name of names) bytes += await getStoredFileSize(join(folder, name));
  return { files: names.length, bytes };
}

/** Returns 0 for a file that was removed in the meantime. */
function getStoredFileSize(path: string): Promise<number> {
  return stat(path).then(
    ({ size }) => size,
    () => 0,
  );
}

type RunWithLimit = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * Large and small files are written in alternating chunks, so that a small file does not wait for
 * large ones.
 */
async function writeSyncedFile(
  path: string,
  bytes: Uint8Array,
  inTurn: RunWithLimit,
): Promise<void> {
  const deadline = AbortSignal.timeout(PUT_TIMEOUT_MS);
  const handle = await open(path, 'wx', 0o600);
  try {
    for (let at = 0; at < bytes.byteLength; ) {
      deadline.throwIfAborted();
      const from = at;
      at += await inTurn(async () => {
        const { bytesWritten } = await handle.write(
          bytes,
          from,
          Math.min(CHUNK, bytes.length - from),
        );
        await handle.datasync();
        return bytesWritten;
      });
    }
    await inTurn(() => handle.sync());
  } finally {
    await handle.close();
  }
}

/** A renamed file survives a power cut only after its folder is synced. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * Overwrites a file before removing it, as `secure_delete` does with rows, because forgotten text
 * must not remain on disk. The file is renamed first, so that readers never get zeros.
 */
async function overwriteFile(path: string): Promise<void> {
  const gone = `${path}${GONE}`;
  await rename(path, gone).catch(ignoreMissingFile);
  const handle = await open(gone, 'r+').catch(ignoreMissingFile);
  if (handle === undefined) return;
  try {
    const { size } = await handle.stat();
    const zeros = Buffer.alloc(Math.min(CHUNK, size));
    for (let at = 0; at < size; at += zeros.length) {
      await handle.write(zeros, 0, Math.min(zeros.length, size - at), at);
    }
    await handle.datasync();
  } finally {
    await handle.close();
  }
  await rm(gone, { force: true });
}

function ignoreMissingFile(reason: unknown): undefined {
  if (!isMissingFile(reason)) throw reason;
  return undefined;
}

/** Runs at most `atOnce` tasks at a time, in the order in which they were requested. */
function createConcurrencyLimiter(atOnce: number): RunWithLimit {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running >= atOnce) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
