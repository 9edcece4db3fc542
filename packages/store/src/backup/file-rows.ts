import { constants } from 'node:fs';
import { copyFile, mkdir, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FILE_ID, isMissing } from '../files/folder-bytes.ts';
import { PIECE_BYTES, piecesOf } from '../files/piece-bytes.ts';
import type { BackupRows, BackupTable, Cell } from './snapshot.ts';

/**
 * A backup has all files as rows of this table, whether they lie in a folder beside the database or in the database: so
 * it can be restored into the other kind.
 */
export const FILE_TABLE = 'file_piece';

/** The files of a folder as rows. One that was removed since the snapshot was taken is left out. */
export async function* filesAsRows(
  folder: string,
  ids: readonly string[],
  table: BackupTable,
): AsyncGenerator<BackupRows> {
  for (const id of ids.filter((one) => FILE_ID.test(one))) {
    const bytes = await readFile(join(folder, id)).catch((reason: unknown) => {
      if (isMissing(reason)) return null;
      throw reason;
    });
    for (const [index, piece] of bytes === null ? [] : piecesOf(bytes)) {
      const cells: Readonly<Record<string, Cell>> = {
        file_id: id,
        piece_index: index,
        bytes: piece,
      };
      yield { table, rows: [table.columns.map((column) => cells[column] ?? null)] };
    }
  }
}

/** Makes the folder of a database that is being restored; nothing uses it before it is complete. */
export async function makeFilesFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
}

/** Writes rows as files; each piece has its place, so their order does not matter. */
export async function rowsAsFiles(folder: string, { table, rows }: BackupRows): Promise<void> {
  const at = (name: string) => table.columns.indexOf(name);
  for (const row of rows) {
    const [id, index, bytes] = [row[at('file_id')], row[at('piece_index')], row[at('bytes')]];
    if (typeof id !== 'string' || !FILE_ID.test(id)) continue;
    if (typeof index !== 'number' || !(bytes instanceof Uint8Array)) continue;
    const handle = await open(join(folder, id), constants.O_CREAT | constants.O_WRONLY, 0o600);
    try {
      await handle.write(bytes, 0, bytes.length, index * PIECE_BYTES);
      await handle.sync();
    } finally {
      await handle.close();
    }
  }
}

/** Copies files that rows were carried over with. One that is missing is missing there, too. */
export async function copyFiles(from: string, to: string, ids: readonly string[]): Promise<void> {
  for (const id of ids.filter((one) => FILE_ID.test(one))) {
    await copyFile(join(from, id), join(to, id), constants.COPYFILE_EXCL).catch(
      (reason: unknown) => {
        const code = reason instanceof Error && 'code' in reason ? reason.code : undefined;
        if (code !== 'ENOENT' && code !== 'EEXIST') throw reason;
      },
    );
  }
}
