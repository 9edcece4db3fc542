import {
  chooseField,
  listAllowedKeys,
  type SettingFieldKind,
  type SettingSchema,
} from './fields.ts';

/** A key or value that is possible at a position in the file. */
export interface SettingCompletion {
  readonly label: string;
  readonly about?: string | undefined;
  readonly isKey: boolean;
}

/**
 * Returns the completions for `typed`, the start of a line below `lines`. These are either the keys
 * of the block to which its indentation belongs, or the values of its key. Flow mappings in braces
 * are not parsed.
 */
export function listCompletions(
  schema: SettingSchema,
  lines: readonly string[],
  typed: string,
): readonly SettingCompletion[] {
  const [, indent = '', key = '', value] = /^(\s*)([\w-]*)(:\s+\S*)?$/.exec(typed) ?? [];
  if (!/^\s*[\w-]*(:\s+\S*)?$/.test(typed)) return [];
  const block = findBlockFields(schema, findPathAbove(lines, indent.length));
  if (block === undefined) return [];
  if (value === undefined) {
    return block.map(([label, { description }]) => ({ label, about: description, isKey: true }));
  }
  const [, found] = block.find(([name]) => name === key) ?? [];
  if (found === undefined) return [];
  const field = chooseField(key, found, undefined);
  return listFieldWords(field).map((label) => ({ label, isKey: false }));
}

function listFieldWords(field: SettingFieldKind): readonly string[] {
  switch (field.kind) {
    case 'switch':
      return ['true', 'false'];
    case 'choice':
      return field.options;
    case 'union':
      return field.forms.flatMap((form) => (form.kind === 'word' ? form.label : []));
    default:
      return [];
  }
}

/** The keys of the blocks around a line with this indentation, outermost first. */
function findPathAbove(lines: readonly string[], indent: number): readonly string[] {
  const path: string[] = [];
  let depth = indent;
  for (const line of lines.toReversed()) {
    const [, spaces, key] = /^(\s*)([\w-]+):(?:\s|$)/.exec(line) ?? [];
    if (spaces === undefined || key === undefined || spaces.length >= depth) continue;
    path.unshift(key);
    depth = spaces.length;
    if (depth === 0) break;
  }
  return path;
}

function findBlockFields(
  schema: SettingSchema,
  path: readonly string[],
): readonly (readonly [string, SettingSchema])[] | undefined {
  let here = schema;
  for (const key of path) {
    const { keys, entry } = listAllowedKeys(here);
    const found = keys.find(([name]) => name === key)?.[1] ?? entry;
    if (found === undefined) return undefined;
    here = found;
  }
  const { keys } = listAllowedKeys(here);
  return keys.length === 0 ? undefined : keys;
}
