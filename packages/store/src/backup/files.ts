import { constants } from 'node:fs';
import { copyFile, mkdir, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FILE_ID, isMissing } from '../files/folder-bytes.ts';
import { PIECE_BYTES, piecesOf } from '../files/piece-bytes.ts';
import type { BackupRows, BackupTable, Cell } from './rows.ts';

/** The table of files where they are in the database. In a folder beside it, each file lies under its id. */
export const FILE_TABLE = 'file_piece';

/** The files of a folder as rows of that table. One that is missing is left out. */
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

/** Writes such rows as files; each piece has its place, so their order does not matter. */
export async function rowsAsFiles(folder: string, { table, rows }: BackupRows): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
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

/** Copies files that carried rows name. One that is missing is missing in the copy, too. */
export async function copyFiles(from: string, to: string, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await mkdir(to, { recursive: true, mode: 0o700 });
  for (const id of ids.filter((one) => FILE_ID.test(one))) {
    await copyFile(join(from, id), join(to, id), constants.COPYFILE_EXCL).catch(
      (reason: unknown) => {
        const code = reason instanceof Error && 'code' in reason ? reason.code : undefined;
        if (code !== 'ENOENT' && code !== 'EEXIST') throw reason;
      },
    );
  }
}
