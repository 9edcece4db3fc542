import { reasonOf } from '@parley/contracts';
import { type BackupRows, refuseUnknownSteps } from '@parley/store/backup';
import { entryKind, FORMAT, Manifest, rowOf } from './archive-format.ts';
import { BackupError } from './backup-error.ts';
import { type ArchiveEntry, damaged, readArchive } from './read-archive.ts';

/** What a good backup holds. */
export interface CheckedBackup {
  readonly manifest: Manifest;
  readonly rows: number;
  readonly files: number;
  readonly hasSettings: boolean;
}

/**
 * Reads a backup from beginning to end and changes nothing. Throws BackupError `backup-missing`,
 * `backup-damaged`, `backup-newer` or StoreError `store-newer`.
 */
export async function checkBackup(file: string): Promise<CheckedBackup> {
  let manifest: Manifest | undefined;
  let rows = 0;
  let files = 0;
  let hasSettings = false;
  for await (const entry of readArchive(file)) {
    if (manifest === undefined) {
      manifest = await manifestOf(file, entry);
      continue;
    }
    const is = entryKind(entry.name);
    if (is?.kind === 'rows') rows += (await rowsOf(file, entry, manifest)).rows.length;
    else if (is?.kind === 'file') files += 1;
    else if (is?.kind === 'settings') hasSettings = true;
    else throw damaged(file, new Error(`nothing is called ${entry.name}`));
  }
  if (manifest === undefined) throw damaged(file, new Error('it is empty'));
  return { manifest, rows, files, hasSettings };
}

/** The first entry. Throws when it is of a later kind than this Parley knows. */
export async function manifestOf(file: string, entry: ArchiveEntry): Promise<Manifest> {
  if (entry.name !== 'manifest.json') throw damaged(file, new Error('it has no manifest'));
  const written: unknown = parsed(file, (await entry.whole()).toString());
  const isObject = typeof written === 'object' && written !== null;
  if (isObject && 'format' in written && Number(written.format) > FORMAT) {
    const by = 'parley' in written ? String(written.parley) : 'a newer version';
    throw new BackupError(
      'backup-newer',
      `${file} was made by Parley ${by} in a form that this one does not know. Nothing was changed. Update Parley first.`,
    );
  }
  const manifest = Manifest.safeParse(written);
  if (!manifest.success) throw damaged(file, manifest.error);
  refuseUnknownSteps(manifest.data.steps);
  return manifest.data;
}

/** The rows of an entry that holds some. */
export async function rowsOf(
  file: string,
  entry: ArchiveEntry,
  { tables }: Manifest,
): Promise<BackupRows> {
  const is = entryKind(entry.name);
  const table = tables.find(({ name }) => is?.kind === 'rows' && name === is.table);
  if (table === undefined) throw damaged(file, new Error(`no table is called ${entry.name}`));
  try {
    const lines = (await entry.whole()).toString().split('\n').slice(0, -1);
    return { table, rows: lines.map((line) => rowOf(line, table.columns.length)) };
  } catch (reason) {
    throw damaged(file, new Error(`${entry.name}: ${reasonOf(reason)}`));
  }
}

function parsed(file: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (reason) {
    throw damaged(file, reason);
  }
}
