import { join, sep } from 'node:path';
import { ParleyError, reasonOf } from '@parley/core';
import { type BackupRows, type CellValue, refuseUnknownMigrations } from '@parley/store/backup';
import { z } from 'zod';
import type { LoadedSettings } from '../../settings.ts';
import {
  type ArchiveEntry,
  BackupError,
  createDamagedBackupError,
  readArchive,
} from './archive.ts';

/**
 * The backup format that this version writes; older versions of Parley refuse a higher number.
 * Format 1, from 0.1.0, stores the database rows as lines of JSON; format 2 stores the database as
 * a SQLite file.
 */
export const FORMAT = 2;

/** Paths in a backup: the database, and the files attached to messages. */
export const DATABASE = 'database/parley.db';
export const DATABASE_FILES = 'database/files';
/** The name of the database file in a data folder. */
export const DATABASE_NAME = 'parley.db';

/**
 * The subfolders of the data folder that a backup contains in addition to the workspace.
 * `workspaces` holds the workspaces of other agents.
 */
export const FOLDERS = ['profiles', 'personas', 'output-formats', 'skills', 'workspaces'] as const;
/** The folder in a backup that holds other agents' workspaces from outside the data folder. */
const AGENTS = 'agents';

/** A folder and its name in the backup. */
export interface NamedFolder {
  readonly name: string;
  readonly path: string;
}

/** Lists the agents' workspaces that are outside of `FOLDERS`. */
export function listWorkspaceFolders(
  { settings, agents }: Pick<LoadedSettings, 'settings' | 'agents'>,
  dataFolder: string,
): readonly NamedFolder[] {
  const inside = join(dataFolder, 'workspaces') + sep;
  const others = [...agents].flatMap(([name, { agent }]) =>
    agent.workspace.startsWith(inside)
      ? []
      : [{ name: `${AGENTS}/${name}`, path: agent.workspace }],
  );
  return [{ name: 'workspace', path: settings.agent.workspace }, ...others];
}

const Name = z.string().regex(/^[a-z0-9_]+$/);

const Common = z.object({
  parley: z.string(),
  madeAt: z.int(),
  /** The migrations that were applied to the database. */
  steps: z.array(z.int()),
});

/**
 * The content of `manifest.json`, the first entry in a backup: the backup format, and how to read
 * the database.
 */
const Manifest = z.discriminatedUnion('format', [
  Common.extend({
    format: z.literal(1),
    tables: z.array(z.object({ name: Name, columns: z.array(Name) })),
    counters: z.record(Name, z.int()),
  }),
  Common.extend({ format: z.literal(FORMAT) }),
]);
export type BackupManifest = z.infer<typeof Manifest>;
export type RowsManifest = Extract<BackupManifest, { readonly format: 1 }>;

/** Derives the kind of an entry from its name; null for names that do not occur in backups. */
export function getEntryKind(name: string) {
  if (name === 'manifest.json') return { kind: 'manifest' } as const;
  if (name === 'settings/parley.yaml') return { kind: 'settings' } as const;
  if (name === DATABASE) return { kind: 'file', folder: '.', path: [DATABASE_NAME] } as const;
  const id = /^database\/files\/([\w-]+)$/.exec(name)?.[1];
  if (id !== undefined)
    return { kind: 'file', folder: `${DATABASE_NAME}-files`, path: [id] } as const;
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
  readonly file: string;
  readonly manifest: BackupManifest;
  /** The number of files, not counting the database and the files attached to messages. */
  readonly files: number;
  readonly hasSettings: boolean;
}

/**
 * Reads and verifies a whole backup without changing any file. Throws BackupError, or StoreError
 * `store-newer`.
 */
export async function checkBackup(file: string): Promise<CheckedBackup> {
  let manifest: BackupManifest | undefined;
  let files = 0;
  let hasSettings = false;
  for await (const entry of readArchive(file)) {
    if (manifest === undefined) {
      manifest = await readManifest(file, entry);
      continue;
    }
    const is = getEntryKind(entry.name);
    if (is === null)
      throw createDamagedBackupError(
        file,
        new Error(`it does not contain an entry named ${entry.name}`),
      );
    if (is.kind === 'settings') hasSettings = true;
    if (is.kind === 'file' && !entry.name.startsWith('database/')) files += 1;
  }
  if (manifest === undefined) throw createDamagedBackupError(file, new Error('it is empty'));
  return { file, manifest, files, hasSettings };
}

/**
 * Reads the manifest from the first entry of a backup. Throws when the backup's format is newer
 * than this version supports.
 */
async function readManifest(file: string, entry: ArchiveEntry): Promise<BackupManifest> {
  if (entry.name !== 'manifest.json')
    throw createDamagedBackupError(file, new Error('it does not contain a manifest'));
  try {
    const written: unknown = JSON.parse((await entry.whole()).toString());
    const { format, parley } = Head.parse(written);
    if (format > FORMAT) {
      throw new BackupError(
        'backup-newer',
        `${file} was made by Parley ${parley} in a format that this version does not support. Nothing was changed. Update Parley first.`,
      );
    }
    const manifest = Manifest.parse(written);
    refuseUnknownMigrations(manifest.steps, parley, file);
    return manifest;
  } catch (reason) {
    throw reason instanceof ParleyError ? reason : createDamagedBackupError(file, reason);
  }
}

/** The fields in every manifest, including those of later formats. */
const Head = z.looseObject({ format: z.int(), parley: z.string() });

const StoredCell = z.union([
  z.string(),
  z.number(),
  z.null(),
  z.strictObject({ base64: z.base64() }),
]);

/**
 * Yields the database rows of a backup of version 0.1.0. Each row is a line of JSON with the values
 * in column order and bytes as base64.
 */
export async function* readBackupRows(
  file: string,
  { tables }: RowsManifest,
): AsyncIterable<BackupRows> {
  for await (const entry of readArchive(file)) {
    const is = getEntryKind(entry.name);
    if (is?.kind !== 'rows') continue;
    const table = tables.find(({ name }) => name === is.table);
    if (table === undefined)
      throw createDamagedBackupError(
        file,
        new Error(`it does not contain a table named ${entry.name}`),
      );
    const Row = z.array(StoredCell).length(table.columns.length);
    try {
      const lines = (await entry.whole()).toString().split('\n').slice(0, -1);
      yield { table, rows: lines.map((line) => Row.parse(JSON.parse(line)).map(toCell)) };
    } catch (reason) {
      throw createDamagedBackupError(file, new Error(`${entry.name}: ${reasonOf(reason)}`));
    }
  }
}

function toCell(cell: z.infer<typeof StoredCell>): CellValue {
  return typeof cell === 'object' && cell !== null ? Buffer.from(cell.base64, 'base64') : cell;
}
