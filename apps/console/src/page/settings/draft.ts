import type { InputOf } from '@parley/gateway/operations';
import { findSchemaAt, isBlock, type SettingSchema } from './fields.ts';

/** Keys, and indexes of list entries. */
export type SettingPath = readonly (string | number)[];

/** A settings change as the gateway accepts it; without a value the key is removed. */
export type ValueChange = InputOf<'settings/change'>['changes'][number];

/**
 * Saves changed values or the whole text. If the gateway refuses the settings, each problem appears
 * beside its setting.
 */
export type SaveSettings = (
  change: { readonly changes: readonly ValueChange[] } | { readonly text: string },
) => void;

/**
 * The value of an entry that was cleared. A cleared entry stays in the form, because it would
 * otherwise disappear while a person replaces its text. It is left out of the changes.
 */
export const CLEARED = Symbol('cleared');

/** The value at a path; undefined if there is none or if it was cleared. */
export function getValueAt(values: unknown, path: SettingPath): unknown {
  const value = getDraftedValueAt(values, path);
  return value === CLEARED ? undefined : value;
}

/** Whether the value at a path was cleared. */
export function isClearedAt(values: unknown, path: SettingPath): boolean {
  return getDraftedValueAt(values, path) === CLEARED;
}

function getDraftedValueAt(values: unknown, path: SettingPath): unknown {
  let value = values;
  for (const key of path) value = getChild(value, key);
  return value;
}

function getChild(value: unknown, key: string | number): unknown {
  if (typeof key === 'number') return Array.isArray(value) ? value[key] : undefined;
  return isBlock(value) ? value[key] : undefined;
}

/**
 * A copy of the values with another value at a path. Undefined removes the value. Removing the last
 * entry of a list also removes the list, because an empty list has a different meaning. Missing
 * parents are created.
 */
export function replaceValueAt(
  values: unknown,
  [key, ...rest]: SettingPath,
  value: unknown,
): unknown {
  if (key === undefined) return value;
  const inner = replaceValueAt(getChild(values, key), rest, value);
  if (typeof key === 'number') {
    const list: readonly unknown[] = Array.isArray(values) ? values : [];
    if (inner !== undefined) return list.with(key, inner);
    const others = list.toSpliced(key, 1);
    return others.length === 0 ? undefined : others;
  }
  const block = isBlock(values) ? values : {};
  if (inner !== undefined) return { ...block, [key]: inner };
  const { [key]: _removed, ...others } = block;
  return others;
}

/**
 * Returns a block with one key renamed in place, or the same block if the new name is empty or
 * taken.
 */
export function renameBlockKey(value: unknown, from: string, to: string): unknown {
  if (!isBlock(value) || to === '' || to in value) return value;
  const entries = Object.entries(value).map(([key, one]) => [key === from ? to : key, one]);
  return Object.fromEntries(entries);
}

/** A list with one entry moved to another position. */
export function moveListEntry(
  list: readonly unknown[],
  from: number,
  to: number,
): readonly unknown[] {
  const others = list.toSpliced(from, 1);
  return others.toSpliced(to, 0, list[from]);
}

/**
 * The changes that turn the file's values into those of the draft. Blocks are compared key by key
 * and lists of equal length entry by entry, so that comments between them are preserved.
 */
export function listChangesBetween(
  before: unknown,
  after: unknown,
  path: SettingPath = [],
): readonly ValueChange[] {
  if (isBlock(after) && (isBlock(before) || before === undefined || before === null)) {
    if (isBlock(before) || path.length === 0) return listBlockChanges(before ?? {}, after, path);
    return [{ path, value: after }];
  }
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
    return after.flatMap((one, at) => listChangesBetween(before[at], one, [...path, at]));
  }
  if (JSON.stringify(before) === JSON.stringify(after)) return [];
  return [after === undefined ? { path } : { path, value: after }];
}

/**
 * The changes to save. Cleared entries are saved as removals. An empty section is omitted; an empty
 * block counts only if it is optional.
 */
export function listChangesToWrite(
  before: unknown,
  after: unknown,
  schema: SettingSchema,
): readonly ValueChange[] {
  return listChangesBetween(before, removeClearedEntries(after)).filter(
    ({ path, value }) =>
      !(isBlock(value) && Object.keys(value).length === 0) ||
      (path.length > 1 && findSchemaAt(schema, path).default === undefined),
  );
}

/** The draft without its cleared entries; a list is removed together with its last entry. */
function removeClearedEntries(value: unknown): unknown {
  if (value === CLEARED) return undefined;
  if (Array.isArray(value)) {
    const left = value.map(removeClearedEntries).filter((one) => one !== undefined);
    return left.length === 0 && value.length > 0 ? undefined : left;
  }
  if (!isBlock(value)) return value;
  const entries = Object.entries(value).map(
    ([key, one]) => [key, removeClearedEntries(one)] as const,
  );
  return Object.fromEntries(entries.filter(([, one]) => one !== undefined));
}

function listBlockChanges(
  before: object,
  after: Readonly<Record<string, unknown>>,
  path: SettingPath,
): readonly ValueChange[] {
  const known = isBlock(before) ? before : {};
  const removed = Object.keys(known).filter((key) => !(key in after));
  // Removals come last, because a block that is empty in between would be written with braces.
  return [
    ...Object.entries(after).flatMap(([key, one]) =>
      listChangesBetween(known[key], one, [...path, key]),
    ),
    ...removed.map((key) => ({ path: [...path, key] })),
  ];
}

/** Formats a path as in problems: `plugins[0].use`. */
export function formatPath(path: SettingPath): string {
  return path
    .map((key, at) => (typeof key === 'number' ? `[${key}]` : `${at === 0 ? '' : '.'}${key}`))
    .join('');
}
