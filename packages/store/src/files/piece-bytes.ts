import type { NewId } from '@parley/core';
import { type Database, defineStatement, StoreError } from '../database.ts';
import { type ByteStore, PUT_TIMEOUT_MS } from './byte-store.ts';

/**
 * The size of a piece, in bytes; writing a piece takes a few ms, so that other writers can run in
 * between.
 */
export const PIECE_BYTES = 256 * 1_024;

/**
 * Stores files in the `file_piece` table, for a PostgreSQL database that several machines share or
 * for an in-memory database. Each piece is written, read and removed by a separate statement.
 */
export function createPieceByteStore(database: Database, newId: NewId): ByteStore {
  return {
    async put(bytes) {
      const id = newId('file');
      const deadline = AbortSignal.timeout(PUT_TIMEOUT_MS);
      for (const [index, piece] of splitIntoPieces(bytes)) {
        if (deadline.aborted) throw createWriteTimeoutError();
        await database.change('power-cut', INSERT, { id, index, bytes: piece });
      }
      return id;
    },
    async get(id, size) {
      const bytes = Buffer.alloc(size);
      let at = 0;
      for (let index = 0; at < size; index += 1) {
        const piece = (await database.read((sql) => sql.get(PIECE, { id, index })))?.bytes;
        if (piece === undefined || at + piece.byteLength > size) return null;
        bytes.set(piece, at);
        at += piece.byteLength;
      }
      return bytes;
    },
    has: async (id, size) =>
      ((await database.read((sql) => sql.get(LENGTH, { id })))?.bytes ?? 0) === size,
    list: async () => (await database.read((sql) => sql.all(IDS))).map(({ id }) => id),
    async remove(ids) {
      for (const id of ids) await database.change('process', DELETE, { id });
    },
  };
}

/** Yields the pieces of a file with their zero-based indexes. */
export function* splitIntoPieces(bytes: Uint8Array): Generator<[index: number, piece: Uint8Array]> {
  for (let at = 0; at < bytes.byteLength; at += PIECE_BYTES) {
    yield [at / PIECE_BYTES, bytes.subarray(at, at + PIECE_BYTES)];
  }
}

function createWriteTimeoutError(): StoreError {
  const seconds = PUT_TIMEOUT_MS / 1_000;
  return new StoreError(
    'store-unreachable',
    `The database did not store a file within ${seconds} s. Parley will try again.`,
  );
}

const INSERT = defineStatement(
  'insert into file_piece (file_id, piece_index, bytes) values (:id, :index, :bytes)',
);

const PIECE = defineStatement(
  'select bytes from file_piece where file_id = :id and piece_index = :index',
).rows<{ readonly bytes: Uint8Array }>();

const LENGTH = defineStatement(
  'select sum(length(bytes)) as bytes from file_piece where file_id = :id',
).rows<{ readonly bytes: number | null }>();

const IDS = defineStatement('select distinct file_id as id from file_piece').rows<{
  readonly id: string;
}>();

const DELETE = defineStatement('delete from file_piece where file_id = :id');
