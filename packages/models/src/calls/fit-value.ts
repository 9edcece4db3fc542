import { isPlaceholder } from '@parley/core';
import { isObject, type JsonObject } from '../json-object.ts';
import { coerceScalar, formatShortJson } from './fit-scalar.ts';
import { parseLenientJson } from './lenient-json.ts';

type Schema = Readonly<Record<string, unknown>>;

/** A value that matches a schema in its form, or the first position at which it does not. */
export type CoercionResult =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problem: SchemaMismatch };

/**
 * The position at which a value does not match. `path` has the form `items.2.name`; it is empty for
 * the whole value.
 */
export interface SchemaMismatch {
  readonly path: string;
  readonly expected: string;
  /** The value as truncated JSON; absent if there is none. */
  readonly found?: string;
}

/** The maximum depth to which values are adapted; deeper parts stay unchanged. */
const MAX_DEPTH = 40;

/**
 * The maximum number of schemas that are compared with parts of one value; a schema that refers to
 * itself twice would double the comparisons at each level.
 */
const MAX_STEPS = 20_000;

interface CoercionPosition {
  readonly root: Schema;
  readonly path: readonly string[];
  readonly budget: { left: number };
}

class StepLimitError extends Error {}

/**
 * Adapts a value to a JSON Schema if the schema allows only one interpretation: a number written as
 * text, one item instead of a list, an object written as JSON text, a placeholder in an optional
 * field, a name in another case. A value that matches is returned unchanged, as the same object.
 * Patterns, lengths and ranges are left to the tool's own validation: some take long to check, and
 * none of them reveals what the model meant. A value that takes too many steps is also left to the
 * tool's validation.
 */
export function coerceValue(value: unknown, schema: unknown, root: Schema): CoercionResult {
  try {
    return coerceValueAt(value, schema, { root, path: [], budget: { left: MAX_STEPS } });
  } catch (error) {
    if (error instanceof StepLimitError) return { ok: true, value };
    throw error;
  }
}

function coerceValueAt(value: unknown, given: unknown, place: CoercionPosition): CoercionResult {
  place.budget.left -= 1;
  if (place.budget.left < 0) throw new StepLimitError();
  const schema = resolveReference(given, place.root);
  if (schema === null || place.path.length > MAX_DEPTH) return { ok: true, value };
  let current = value;
  for (const part of toList(schema.allOf)) {
    const fitted = coerceValueAt(current, part, place);
    if (!fitted.ok) return fitted;
    current = fitted.value;
  }
  const choices = [...toList(schema.anyOf), ...toList(schema.oneOf)];
  if (choices.length > 0) {
    const fitted = coerceToAlternative(current, choices, place);
    if (!fitted.ok) return fitted;
    current = fitted.value;
  }
  return coerceTypedValue(current, schema, place);
}

/** The schema that a reference points to; null if it allows any value or is unknown. */
function resolveReference(given: unknown, root: Schema): Schema | null {
  let schema = given;
  for (let steps = 0; steps < 20; steps += 1) {
    if (!isObject(schema)) return null;
    const { $ref } = schema;
    if (typeof $ref !== 'string') return schema;
    const [, keyword = '', name = ''] = /^#\/(\$defs|definitions)\/([^/]+)$/.exec($ref) ?? [];
    const definitions = root[keyword];
    schema = $ref === '#' ? root : isObject(definitions) ? definitions[name] : null;
  }
  return null;
}

/**
 * Adapts a value to one of several schemas: the first that accepts the value unchanged, otherwise
 * the only possible interpretation.
 */
function coerceToAlternative(
  value: unknown,
  choices: readonly unknown[],
  place: CoercionPosition,
): CoercionResult {
  const fitted = choices.map((choice) => coerceValueAt(value, choice, place));
  if (fitted.some((one) => one.ok && one.value === value)) return { ok: true, value };
  const meanings = new Map(
    fitted.flatMap((one) => (one.ok ? [[JSON.stringify(one.value), one]] : [])),
  );
  const [only] = meanings.values();
  if (only !== undefined && meanings.size === 1) return only;
  const failed = fitted.flatMap((one) => (one.ok ? [] : [one.problem]));
  const deepest = failed.toSorted((a, b) => b.path.length - a.path.length)[0];
  const here = place.path.join('.');
  // The alternative that matches the value except for one nested part gives the best explanation of
  // the mismatch.
  if (meanings.size === 0 && deepest !== undefined && deepest.path !== here) {
    return { ok: false, problem: deepest };
  }
  const expected =
    meanings.size > 1
      ? `one of several meanings (${[...meanings.keys()].join(' or ')})`
      : [...new Set(failed.map((one) => one.expected))].join(' or ');
  return createMismatch(place, expected, value);
}

function coerceTypedValue(value: unknown, schema: Schema, place: CoercionPosition): CoercionResult {
  const types = listTypes(schema);
  if (schema.enum === undefined && schema.const === undefined) {
    if (isObject(value) && (types.length === 0 || types.includes('object')))
      return coerceObject(value, schema, place);
    if (Array.isArray(value) && (types.length === 0 || types.includes('array')))
      return coerceItems(value, schema, place);
    if (types.length === 0) return { ok: true, value };
  }
  const scalar = coerceScalar(value, schema, types);
  if (scalar.ok) return scalar;
  const structure = coerceStructure(value, schema, types, place);
  return structure ?? createMismatch(place, scalar.expected, value);
}

/**
 * A list or an object that was written as text, or whose brackets are missing; null if it is
 * neither.
 */
function coerceStructure(
  value: unknown,
  schema: Schema,
  types: readonly string[],
  place: CoercionPosition,
): CoercionResult | null {
  const wantsObject = types.includes('object');
  const wantsList = types.includes('array');
  if (typeof value === 'string' && (wantsObject || wantsList) && /^\s*(?:[[{]|`{3})/.test(value)) {
    const read = parseLenientJson(value);
    const isMeant =
      read.ok && (isObject(read.value) ? wantsObject : Array.isArray(read.value) && wantsList);
    if (isMeant) return coerceTypedValue(read.value, schema, place);
  }
  if (wantsList && value !== null && !Array.isArray(value))
    return coerceSingleItem(value, schema, place);
  if (Array.isArray(value) && value.length === 1 && !wantsList)
    return coerceTypedValue(value[0], schema, place);
  return null;
}

/** Returns a list for a single item; splits text at commas only if an item cannot contain any. */
function coerceSingleItem(
  value: unknown,
  schema: Schema,
  place: CoercionPosition,
): CoercionResult | null {
  if (typeof value === 'string') {
    if (value.trim() === '') return null;
    const parts = value.split(/[,;\n]/).map((part) => part.trim());
    const isPlain = parts.length === 1;
    const whole = coerceItems([value], schema, place);
    if (isPlain) return whole;
    const several = coerceItems(
      parts.filter((part) => part !== ''),
      schema,
      place,
    );
    if (several.ok && !whole.ok) return several;
    return several.ok
      ? createMismatch(place, 'a list: it is unclear whether this is one item or several', value)
      : whole;
  }
  return coerceItems([value], schema, place);
}

function coerceItems(
  value: readonly unknown[],
  schema: Schema,
  place: CoercionPosition,
): CoercionResult {
  const { items } = schema;
  if (!isObject(items) || schema.prefixItems !== undefined) return { ok: true, value };
  let isSame = true;
  const fitted: unknown[] = [];
  for (const [index, item] of value.entries()) {
    const one = coerceValueAt(item, items, descendInto(place, String(index)));
    if (!one.ok) return one;
    isSame &&= one.value === item;
    fitted.push(one.value);
  }
  return { ok: true, value: isSame ? value : fitted };
}

function coerceObject(value: JsonObject, schema: Schema, place: CoercionPosition): CoercionResult {
  const properties = isObject(schema.properties) ? schema.properties : {};
  const required = toList(schema.required);
  const renamed = restoreDeclaredNames(value, schema, properties);
  let isSame = renamed === value;
  const entries: [string, unknown][] = [];
  for (const [key, given] of Object.entries(renamed)) {
    if (!Object.hasOwn(properties, key)) {
      const extra = coerceAdditionalProperty(key, given, schema, place);
      if (!extra.ok) return extra;
      if (extra.value === ABSENT) isSame = false;
      else entries.push([key, extra.value]);
      isSame &&= extra.value === given;
      continue;
    }
    const one = coerceValueAt(given, properties[key], descendInto(place, key));
    if (!one.ok && (required.includes(key) || !isPlaceholder(given))) return one;
    isSame &&= one.ok && one.value === given;
    if (one.ok) entries.push([key, one.value]);
  }
  const present = new Set(entries.map(([key]) => key));
  const missing = required.find((key) => typeof key === 'string' && !present.has(key));
  if (typeof missing === 'string') {
    return {
      ok: false,
      problem: {
        path: formatPath(descendInto(place, missing)),
        expected: describeExpectedValue(properties[missing], place),
      },
    };
  }
  return { ok: true, value: isSame ? value : Object.fromEntries(entries) };
}

const ABSENT = Symbol('absent');

/** A property that the schema does not name. */
function coerceAdditionalProperty(
  key: string,
  given: unknown,
  schema: Schema,
  place: CoercionPosition,
): CoercionResult {
  const { additionalProperties: rest } = schema;
  if (isObject(rest)) return coerceValueAt(given, rest, descendInto(place, key));
  if (rest !== false || schema.patternProperties !== undefined) return { ok: true, value: given };
  if (isPlaceholder(given)) return { ok: true, value: ABSENT };
  const names = isObject(schema.properties) ? Object.keys(schema.properties) : [];
  const known = names.length === 0 ? 'it takes none' : `there are ${names.join(', ')}`;
  return createMismatch(descendInto(place, key), `no such property (${known})`, given);
}

/**
 * Restores the declared names of properties that were written in another case or with other
 * separators.
 */
function restoreDeclaredNames(
  value: JsonObject,
  schema: Schema,
  properties: JsonObject,
): JsonObject {
  const { additionalProperties: rest = false, patternProperties } = schema;
  if (rest !== false || patternProperties !== undefined) return value;
  const free = Object.keys(properties).filter((name) => !Object.hasOwn(value, name));
  const given = Object.keys(value).filter((name) => !Object.hasOwn(properties, name));
  const names = new Map<string, string>();
  for (const key of given) {
    const alike = free.filter((name) => foldName(name) === foldName(key));
    const rivals = given.filter((name) => foldName(name) === foldName(key));
    if (alike.length === 1 && rivals.length === 1) names.set(key, alike[0] ?? key);
  }
  if (names.size === 0) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [names.get(key) ?? key, one]),
  );
}

function foldName(name: string): string {
  return name.replace(/[^\p{L}\p{N}]+/gu, '').toLowerCase();
}

function listTypes({ type, properties, items }: Schema): readonly string[] {
  if (typeof type === 'string') return [type];
  const types = toList(type).filter((one) => typeof one === 'string');
  if (types.length > 0) return types;
  if (isObject(properties)) return ['object'];
  return isObject(items) ? ['array'] : [];
}

function describeExpectedValue(given: unknown, { root }: CoercionPosition): string {
  const schema = resolveReference(given, root) ?? {};
  const types = listTypes(schema);
  const kind = types.length === 0 ? 'a value' : types.map(addArticle).join(' or ');
  const values = toList(schema.enum);
  const among =
    values.length === 0 ? '' : `, one of ${values.map((one) => JSON.stringify(one)).join(', ')}`;
  return `${kind}${among}; it is required`;
}

function addArticle(type: string): string {
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}

function createMismatch(place: CoercionPosition, expected: string, value: unknown): CoercionResult {
  return {
    ok: false,
    problem: { path: formatPath(place), expected, found: formatShortJson(value) },
  };
}

function descendInto(place: CoercionPosition, step: string): CoercionPosition {
  return { ...place, path: [...place.path, step] };
}

function formatPath({ path }: CoercionPosition): string {
  return path.join('.');
}

function toList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
