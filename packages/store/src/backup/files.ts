import { constants } from 'node:fs';
import { copyFile, mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import { FILE_ID } from '../files/folder-bytes.ts';
import { PIECE_BYTES } from '../files/piece-bytes.ts';
import type { BackupRows } from './rows.ts';

/**
 * The table that stores files in pieces when they are kept in the database; in a folder, each file
 * is named by its id.
 */
export const FILE_TABLE = 'file_piece';

/**
 * Writes the rows of `file_piece` as files. Each piece has its own offset, so their order does not
 * matter.
 */
export async function writeRowsAsFiles(folder: string, { table, rows }: BackupRows): Promise<void> {
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

/** Copies the files that carried-over rows refer to. A missing source file is skipped. */
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
