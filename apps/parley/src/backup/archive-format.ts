import type { Cell } from '@parley/store/backup';
import { z } from 'zod';

/** The kind of file that this Parley writes; an older Parley refuses a higher one. */
export const FORMAT = 1;

/** Folders of the data folder that belong to a backup besides the workspace. */
export const FOLDERS = ['profiles', 'personas', 'output-formats', 'skills'] as const;

const Name = z.string().regex(/^[a-z0-9_]+$/);

/** `manifest.json`, the first entry: what the file is, and how its rows are to be read. */
export const Manifest = z.object({
  format: z.int().positive(),
  /** The Parley that made it. */
  parley: z.string(),
  /** In ms since 1970. */
  madeAt: z.int(),
  dialect: z.enum(['sqlite', 'postgres']),
  /** The migrations its database has seen. */
  steps: z.array(z.int()),
  tables: z.array(z.object({ name: Name, columns: z.array(Name) })),
  counters: z.record(Name, z.int()),
});
export type Manifest = z.infer<typeof Manifest>;

/** `end.json`, the last entry: a file without it, or one that counts otherwise, is damaged. */
export const End = z.object({
  entries: z.int(),
  /** Over name and content of all entries before, in hexadecimal. */
  sha256: z.string(),
  rows: z.record(Name, z.int()),
});
export type End = z.infer<typeof End>;

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
export function rowOf(line: string, columns: number): readonly Cell[] {
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
  const known = top === 'workspace' || FOLDERS.some((folder) => folder === top);
  const isPlain = path.length > 0 && path.every((step) => !['', '.', '..'].includes(step));
  return known && isPlain && !name.includes('\0')
    ? ({ kind: 'file', folder: top, path } as const)
    : null;
}
