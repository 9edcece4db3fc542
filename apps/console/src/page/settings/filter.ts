import type { SettingPath } from './draft.ts';
import {
  getSettingName,
  isBlock,
  listAllowedKeys,
  listValueSchemas,
  type SettingSchema,
} from './fields.ts';
import { isPart } from './groups.ts';

/** Which settings the form shows. */
export interface SettingFilter {
  /** The search words, in lower case; empty to show all settings. */
  readonly words: readonly string[];
  readonly isChangedOnly: boolean;
}

export const ALL: SettingFilter = { words: [], isChangedOnly: false };

/** How many levels below a section are searched. */
const MAX_DEPTH = 8;

export function createFilter(query: string, isChangedOnly: boolean): SettingFilter {
  const words = query.toLowerCase().split(/\s+/);
  return { words: words.filter((word) => word !== ''), isChangedOnly };
}

export const isAll = ({ words, isChangedOnly }: SettingFilter): boolean =>
  words.length === 0 && !isChangedOnly;

/** A setting and its value in the file or draft. */
interface SettingWithValue {
  readonly path: SettingPath;
  readonly schema: SettingSchema;
  readonly written: unknown;
}

/**
 * Whether the label, help or key of a setting contains all words. A word that contains a dot is
 * compared with the path.
 */
export function matchesWords(
  { words }: SettingFilter,
  { path, schema }: Omit<SettingWithValue, 'written'>,
): boolean {
  const key = String(path.at(-1) ?? '');
  const own = `${getSettingName(key, schema)} ${schema.description ?? ''} ${key}`.toLowerCase();
  const whole = path.join('.').toLowerCase();
  return words.every((word) => own.includes(word) || (word.includes('.') && whole.includes(word)));
}

/** Whether the form shows a setting or anything inside it. */
export function isSettingShown(
  filter: SettingFilter,
  setting: SettingWithValue,
  depth = MAX_DEPTH,
): boolean {
  const { path, schema, written } = setting;
  if (filter.isChangedOnly && countChanged(schema, written, path) === 0) return false;
  if (matchesWords(filter, setting)) return true;
  return (
    depth > 0 &&
    listInnerSettings(setting).some((inner) => isSettingShown(filter, inner, depth - 1))
  );
}

/** The settings inside a setting: its known keys, and entries that exist or can be added. */
function listInnerSettings({
  path,
  schema,
  written,
}: SettingWithValue): readonly SettingWithValue[] {
  const { keys, entry } = listAllowedKeys(schema);
  const block = isBlock(written) ? written : {};
  const known = keys.map(([key, one]) => ({
    path: [...path, key],
    schema: one,
    written: block[key],
  }));
  const inner = known.filter((one) => !isPart(one.path));
  const item = entry ?? listValueSchemas(schema).find(({ items }) => items !== undefined)?.items;
  if (item === undefined) return inner;
  // An entry that does not exist yet is included, so that the search finds what can be added.
  const entries = [...listEntries(written), ['*', undefined] as const];
  const others = entries.filter(([key]) => !keys.some(([one]) => one === key));
  return [
    ...inner,
    ...others.map(([key, one]) => ({ path: [...path, key], schema: item, written: one })),
  ];
}

function listEntries(written: unknown): readonly (readonly [string | number, unknown])[] {
  if (Array.isArray(written)) return written.map((one, at) => [at, one] as const);
  return isBlock(written) ? Object.entries(written) : [];
}

/**
 * The number of settings that differ from their defaults; an entry without a default counts as one.
 */
export function countChanged(schema: SettingSchema, written: unknown, path: SettingPath): number {
  if (written === undefined || written === null) return 0;
  const { keys, entry } = listAllowedKeys(schema);
  if (!isBlock(written) || entry !== undefined || keys.length === 0) {
    return JSON.stringify(written) === JSON.stringify(schema.default) ? 0 : sizeOf(written);
  }
  const known = new Map(keys);
  const counts = Object.entries(written).map(([key, one]) => {
    const inner = [...path, key];
    return isPart(inner) ? 0 : countChanged(known.get(key) ?? {}, one, inner);
  });
  const sum = counts.reduce((all, count) => all + count, 0);
  // An optional block is switched on by its mere presence.
  return sum === 0 && schema.default === undefined && counts.length === 0 ? 1 : sum;
}

const sizeOf = (written: unknown): number => (isBlock(written) ? Object.keys(written).length : 1);
