import { join, sep } from 'node:path';
import { reasonOf } from '@parley/core';
import { type BackupRows, type Cell, refuseUnknownSteps } from '@parley/store/backup';
import { z } from 'zod';
import type { LoadedSettings } from '../../settings.ts';
import { type ArchiveEntry, BackupError, damaged, readArchive } from './archive.ts';

/** The kind of file that this Parley writes; an older Parley refuses a higher one. */
export const FORMAT = 1;

/** Folders of the data folder that belong to a backup besides the workspace; the last are those of other agents. */
export const FOLDERS = ['profiles', 'personas', 'output-formats', 'skills', 'workspaces'] as const;
/** Where a backup has the workspaces of other agents that are not in the data folder. */
const AGENTS = 'agents';

/** A folder, and what a backup calls it. */
export interface Place {
  readonly name: string;
  readonly path: string;
}

/** The workspaces that are not in one of `FOLDERS`. */
export function workspacePlaces(
  { settings, agents }: Pick<LoadedSettings, 'settings' | 'agents'>,
  dataFolder: string,
): readonly Place[] {
  const inside = join(dataFolder, 'workspaces') + sep;
  const others = [...agents].flatMap(
    ([
      name,
      {
        agent: { workspace: path },
      },
    ]) => (path.startsWith(inside) ? [] : [{ name: `${AGENTS}/${name}`, path }]),
  );
  return [{ name: 'workspace', path: settings.agent.workspace }, ...others];
}

const Name = z.string().regex(/^[a-z0-9_]+$/);

/** `manifest.json`, the first entry: what the file is, and how its rows are to be read. */
export const Manifest = z.object({
  format: z.int().positive(),
  parley: z.string(),
  madeAt: z.int(),
  dialect: z.enum(['sqlite', 'postgres']),
  /** The migrations its database has seen. */
  steps: z.array(z.int()),
  tables: z.array(z.object({ name: Name, columns: z.array(Name) })),
  counters: z.record(Name, z.int()),
});
export type Manifest = z.infer<typeof Manifest>;

const StoredCell = z.union([
  z.string(),
  z.number(),
  z.null(),
  z.strictObject({ base64: z.base64() }),
]);
const StoredRow = z.array(StoredCell);

/** A row as a line of JSON: its values in the order of the columns, bytes as base64. */
export function lineOf(row: readonly Cell[]): string {
  const cells = row.map((cell) =>
    cell instanceof Uint8Array ? { base64: Buffer.from(cell).toString('base64') } : cell,
  );
  return `${JSON.stringify(cells)}\n`;
}

/** The row of such a line. Throws when it is none, or has another number of values. */
function rowOf(line: string, columns: number): readonly Cell[] {
  const cells = StoredRow.length(columns).parse(JSON.parse(line));
  return cells.map((cell) =>
    typeof cell === 'object' && cell !== null ? Buffer.from(cell.base64, 'base64') : cell,
  );
}

/** What an entry is, by its name; null for a name that no backup has. */
export function entryKind(name: string) {
  if (name === 'manifest.json' || name === 'end.json') return { kind: name } as const;
  if (name === 'settings/parley.yaml') return { kind: 'settings' } as const;
  const table = /^database\/([a-z0-9_]+)\/\d+\.ndjson$/.exec(name)?.[1];
  if (table !== undefined) return { kind: 'rows', table } as const;
  const [top = '', ...path] = name.split('/');
  const known = ['workspace', AGENTS, ...FOLDERS].includes(top);
  const isPlain = path.length > 0 && path.every((step) => !['', '.', '..'].includes(step));
  return known && isPlain && !name.includes('\0')
    ? ({ kind: 'file', folder: top, path } as const)
    : null;
}

export interface CheckedBackup {
  readonly manifest: Manifest;
  readonly rows: number;
  readonly files: number;
  readonly hasSettings: boolean;
}

/** Reads a whole backup and changes nothing. Throws BackupError, or StoreError `store-newer`. */
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
