import type { NewId } from '@parley/core';
import { type Database, defineStatement, encodeJson } from '../database.ts';
import type { FileRef, NewPart, PartWithBytes } from '../rows.ts';
import { type ByteStore, PUT_TIMEOUT_MS } from './byte-store.ts';
import { createFolderByteStore } from './folder-bytes.ts';
import { createPieceByteStore } from './piece-bytes.ts';

/**
 * The columns that locate a row's file contents. Parley 0.1.0 stored the bytes in the row
 * (`bytes`), where they stay until they are dropped; later versions refer to a file (`fileId`).
 */
export interface FileContentColumns {
  readonly bytes: Uint8Array | null;
  readonly fileId: string | null;
  readonly size: number | null;
}

/**
 * An SQL condition for rows that still have their file contents. It must match the condition of the
 * partial indexes; otherwise, they are not used.
 */
export const HAS_BYTES = '(bytes is not null or file_id is not null)';

/**
 * How long an unreferenced file is kept after it was first seen, in ms. By that time, every `put`
 * has completed and has its row.
 */
const UNNAMED_MS = 5 * PUT_TIMEOUT_MS;

/** File contents for the rows of `attachment` and `agent_file`, written outside transactions. */
export type StoredFiles = ReturnType<typeof openStoredFiles>;

/** Stores files in `folder`; if it is null, stores them as pieces in the database. */
export function openStoredFiles(database: Database, newId: NewId, folder: string | null) {
  const bytes: ByteStore =
    folder === null ? createPieceByteStore(database, newId) : createFolderByteStore(folder, newId);
  const suspects = new Map<string, number>();
  const unnamedOf = async (ids: readonly string[]): Promise<readonly string[]> => {
    if (ids.length === 0) return [];
    const rows = await database.read((sql) => sql.all(UNNAMED, { ids: encodeJson(ids) }));
    return rows.map(({ id }) => id);
  };
  /**
   * Removes those of the given files that are no longer referenced; a row cannot refer to such a
   * file again.
   */
  const release = async (files: readonly Pick<FileRef, 'id'>[]): Promise<void> => {
    await bytes.remove(await unnamedOf(files.map(({ id }) => id)));
  };
  const put = async (file: Uint8Array): Promise<FileRef> => {
    return { id: await bytes.put(file), size: file.byteLength };
  };
  const putAll = async (files: readonly Uint8Array[]): Promise<readonly FileRef[]> => {
    const stored: FileRef[] = [];
    try {
      for (const file of files) stored.push(await put(file));
      return stored;
    } catch (reason) {
      await release(stored).catch(() => undefined);
      throw reason;
    }
  };
  /**
   * Stores files and then runs the transaction that stores the rows referring to them. Removes
   * files that are not referenced afterwards. If the transaction fails, its outcome may be unknown,
   * so the files are left for the sweep.
   */
  const withFiles = async <T>(
    files: readonly Uint8Array[] = [],
    transact: (stored: readonly FileRef[]) => Promise<T>,
  ): Promise<T> => {
    if (files.length === 0) return transact([]);
    const stored = await putAll(files);
    const done = await transact(stored);
    await release(stored);
    return done;
  };
  return {
    put,
    release,
    /** Reads a row's file contents; null if they have been removed. */
    async read(row: FileContentColumns | undefined): Promise<Uint8Array | null> {
      if (row === undefined) return null;
      if (row.bytes !== null || row.fileId === null) return row.bytes;
      return bytes.get(row.fileId, row.size ?? 0);
    },
    withFiles,
    /** Like `withFiles`, for the parts of an answer, of which only some may have a file. */
    withParts: <T>(
      parts: readonly PartWithBytes[],
      transact: (parts: readonly NewPart[]) => Promise<T>,
    ): Promise<T> =>
      withFiles(
        parts.flatMap((part) => part.bytes ?? []),
        (all) => transact(attachStoredFiles(parts, all)),
      ),
    /**
     * Lists all referenced files. Pass the list to `release` after rows were removed, to drop the
     * files that are no longer referenced.
     */
    named: (): Promise<readonly Pick<FileRef, 'id'>[]> => database.read((sql) => sql.all(NAMED)),
    /** The number of referenced files that are missing or incomplete; for `parley doctor`. */
    async missing(): Promise<number> {
      const named = await database.read((sql) => sql.all(NAMED_SIZES));
      let missing = 0;
      for (const { id, size } of named) if (!(await bytes.has(id, size))) missing += 1;
      return missing;
    },
    /**
     * Removes files left behind by a crash: no row refers to them now, and none did at an
     * earlier sweep. `now` is monotonic, in ms; returns the number of removed files.
     */
    async sweep(now: number): Promise<number> {
      const unnamed = new Set(await unnamedOf(await bytes.list()));
      for (const id of suspects.keys()) if (!unnamed.has(id)) suspects.delete(id);
      for (const id of unnamed) if (!suspects.has(id)) suspects.set(id, now);
      const old = [...suspects].filter(([, since]) => now - since >= UNNAMED_MS).map(([id]) => id);
      await bytes.remove(old);
      for (const id of old) suspects.delete(id);
      return old.length;
    },
  };
}

/** Adds stored files, in order, to the parts that have a file. */
function attachStoredFiles(
  parts: readonly PartWithBytes[],
  stored: readonly FileRef[],
): readonly NewPart[] {
  const left = [...stored];
  return parts.map(({ bytes, ...part }) => {
    const own = bytes === undefined ? undefined : left.shift();
    return own === undefined ? part : { ...part, stored: own };
  });
}

export const NAMED = defineStatement(`
  select file_id as id from attachment where file_id is not null
  union select file_id as id from agent_file where file_id is not null`).rows<{
  readonly id: string;
}>();

const NAMED_SIZES = defineStatement(`
  select file_id as id, size from attachment where file_id is not null
  union select file_id as id, size from agent_file where file_id is not null`).rows<FileRef>();

const UNNAMED = defineStatement(`
  select value as id from json_each(:ids)
  where not exists (select 1 from attachment where attachment.file_id = value)
    and not exists (select 1 from agent_file where agent_file.file_id = value)`).rows<{
  readonly id: string;
}>();
