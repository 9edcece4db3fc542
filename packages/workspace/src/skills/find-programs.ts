import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { delimiter, join } from 'node:path';

/** Most folders of a PATH that are searched. */
const MOST_FOLDERS = 100;

/** Which of these programs can be started: plain names found on `path` (as in `PATH`). Never throws. */
export async function findPrograms(
  names: Iterable<string>,
  path: string | undefined,
): Promise<ReadonlySet<string>> {
  const folders = (path ?? '').split(delimiter).filter((folder) => folder !== '');
  const plain = [...new Set(names)].filter((name) => /^[\w.+-]+$/.test(name));
  const found = await Promise.all(
    plain.map(async (name) => {
      for (const folder of folders.slice(0, MOST_FOLDERS)) {
        if (await isProgram(join(folder, name))) return [name];
      }
      return [];
    }),
  );
  return new Set(found.flat());
}

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false; // It is not there, or may not be started; both mean that it cannot be used.
  }
}
