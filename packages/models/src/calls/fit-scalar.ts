import { isPlaceholder } from '@parley/core';
import { toIsoDateOrTime } from './read-date.ts';

/**
 * A string, number, boolean or null that matches the schema, or a description of what was expected.
 */
export type CoercedScalar =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly expected: string };

/** How many characters of a value are shown to the model. */
const SHOWN = 80;

/** Formats a value as truncated JSON for a message. */
export function formatShortJson(value: unknown): string {
  const text = JSON.stringify(value) ?? 'undefined';
  return text.length <= SHOWN ? text : `${text.slice(0, SHOWN).toWellFormed()}…`;
}

/** Adapts a value to the types, values and format of a scalar schema. */
export function coerceScalar(
  value: unknown,
  schema: Readonly<Record<string, unknown>>,
  types: readonly string[],
): CoercedScalar {
  const allowed = describeAllowedValues(schema);
  if (allowed !== null) return coerceToAllowedValue(value, allowed);
  for (const type of types) {
    if (isOfType(value, type))
      return type === 'string' ? coerceText(String(value), schema) : { ok: true, value };
  }
  const meanings = types.flatMap((type) => listConversions(value, type));
  const [only] = meanings;
  if (meanings.length === 1)
    return typeof only === 'string' ? coerceText(only, schema) : { ok: true, value: only };
  return { ok: false, expected: types.map(getTypeName).join(' or ') };
}

function getTypeName(type: string): string {
  switch (type) {
    case 'integer':
      return 'a whole number';
    case 'array':
      return 'a list';
    case 'object':
      return 'an object';
    case 'string':
      return 'text';
    case 'boolean':
      return 'true or false';
    default:
      return type === 'null' ? 'null' : `a ${type}`;
  }
}

function describeAllowedValues({ enum: values, const: one }: Readonly<Record<string, unknown>>) {
  if (one !== undefined) return [one];
  return Array.isArray(values) ? (values as readonly unknown[]) : null;
}

/**
 * Finds the value in the schema's list that matches if case and separators are ignored; null unless
 * exactly one matches.
 */
function coerceToAllowedValue(value: unknown, allowed: readonly unknown[]): CoercedScalar {
  const isSame = (one: unknown) => JSON.stringify(one) === JSON.stringify(value);
  if (allowed.some(isSame)) return { ok: true, value };
  const written = Array.isArray(value) && value.length === 1 ? value[0] : value;
  const alike = isScalar(written)
    ? allowed.filter((one) => isScalar(one) && foldValue(one) === foldValue(written))
    : [];
  if (alike.length === 1 && foldValue(String(written)) !== '') return { ok: true, value: alike[0] };
  const shown = allowed
    .slice(0, 20)
    .map((one) => JSON.stringify(one))
    .join(', ');
  return { ok: false, expected: allowed.length === 1 ? shown : `one of ${shown}` };
}

function isScalar(value: unknown): value is string | number | boolean {
  return ['string', 'number', 'boolean'].includes(typeof value);
}

function foldValue(value: string | number | boolean): string {
  return String(value)
    .toLowerCase()
    .replace(/^["'\s]+|["'\s]+$/g, '')
    .replace(/[\s_-]+/g, '-');
}

function isOfType(value: unknown, type: string): boolean {
  switch (type) {
    case 'integer':
      return Number.isInteger(value);
    case 'null':
      return value === null;
    case 'number':
    case 'string':
    case 'boolean':
      return typeof value === type;
    default:
      return false;
  }
}

const NUMBER = /^[+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:e[+-]?\d{1,3})?$/i;
const YES: ReadonlySet<string> = new Set(['true', 'yes', 'on', '1']);
const NO: ReadonlySet<string> = new Set(['false', 'no', 'off', '0']);

/** Returns the possible interpretations of a value as another type; empty if there are none. */
function listConversions(
  value: unknown,
  type: string,
): readonly (string | number | boolean | null)[] {
  switch (type) {
    case 'integer':
    case 'number': {
      const number = typeof value === 'string' && NUMBER.test(value.trim()) ? Number(value) : null;
      const isFine =
        number !== null &&
        (type === 'number' ? Number.isFinite(number) : Number.isSafeInteger(number));
      return isFine ? [number] : [];
    }
    case 'boolean': {
      const word = isScalar(value) ? String(value).trim().toLowerCase() : '';
      return YES.has(word) ? [true] : NO.has(word) ? [false] : [];
    }
    case 'string':
      if (typeof value === 'boolean') return [String(value)];
      // Larger numbers were rounded when the JSON was parsed.
      return typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER
        ? [String(value)]
        : [];
    case 'null':
      return isPlaceholder(value) ? [null] : [];
    default:
      return [];
  }
}

/** Adapts a string to a schema that excludes the empty string or requires a date in ISO 8601. */
function coerceText(text: string, schema: Readonly<Record<string, unknown>>): CoercedScalar {
  const { format, minLength, pattern } = schema;
  const mustSaySomething =
    (typeof minLength === 'number' && minLength > 0) ||
    (typeof format === 'string' && FORMATS.has(format)) ||
    (typeof pattern === 'string' && !matchesEmptyString(pattern));
  if (text === '' && mustSaySomething) return { ok: false, expected: 'text that is not empty' };
  if (format !== 'date' && format !== 'date-time' && format !== 'time')
    return { ok: true, value: text };
  return { ok: true, value: toIsoDateOrTime(text, format) ?? text };
}

const FORMATS: ReadonlySet<string> = new Set([
  'date',
  'date-time',
  'time',
  'duration',
  'email',
  'uri',
  'url',
  'uuid',
  'ipv4',
  'ipv6',
  'hostname',
]);

/** Whether the pattern matches the empty string; this check is instant for any pattern. */
function matchesEmptyString(pattern: string): boolean {
  try {
    return new RegExp(pattern, 'u').test('');
  } catch {
    return true;
  }
}
