import { z } from 'zod';
import { ParleyError, reasonOf } from './errors.ts';

/** Largest JSON Schema, in characters. */
const LARGEST = 32_000;
/** Deepest nesting of a schema: whatever reads it calls itself for each level. */
const DEEPEST = 64;

/**
 * The JSON that a turn has to answer with, because a program reads it (P04): an object of any shape (`json`), or what
 * fits a JSON Schema. A schema that could not be checked in full is refused.
 */
export const ResponseFormat = z
  .union([z.literal('json'), z.record(z.string(), z.unknown())], 'json, or a JSON Schema')
  .superRefine((format, context) => {
    const why = whyUnusable(format);
    if (why !== null) context.addIssue({ code: 'custom', message: why });
  });
export type ResponseFormat = z.infer<typeof ResponseFormat>;

/** Why a schema cannot be used; null where it can. */
function whyUnusable(format: unknown): string | null {
  try {
    const { length } = JSON.stringify(format);
    if (length > LARGEST) {
      return `a JSON Schema of at most ${LARGEST.toLocaleString('en-US')} characters; this one has ${length.toLocaleString('en-US')}`;
    }
    checkerOf(format);
    return null;
  } catch (error) {
    return `json, or a JSON Schema that can be checked (${reasonOf(error)})`;
  }
}

function checkerOf(format: unknown): z.ZodType {
  if (format === 'json') return z.record(z.string(), z.unknown());
  return z.fromJSONSchema(strict(format, 0));
}

const Schema = z.record(z.string(), z.unknown());

const KEYS_OF_SCHEMAS = new Set(['properties', 'patternProperties', '$defs', 'definitions']);
const LISTS_OF_SCHEMAS = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems']);
const SCHEMAS = new Set(['items', 'additionalProperties', 'contains', 'propertyNames', 'not']);
const OF_OBJECTS = ['properties', 'patternProperties', 'required', 'additionalProperties'];

/**
 * A schema whose every part counts: one that describes an object without `type: object` would fit anything, and a
 * `default` would make a missing property fit.
 */
function strict(schema: unknown, depth: number): z.infer<typeof Schema> {
  if (depth > DEEPEST) throw new Error(`it is nested more than ${DEEPEST} deep`);
  const { default: _default, ...given } = Schema.parse(schema);
  const typed = given.type === undefined && given.$ref === undefined;
  const isObject = typed && OF_OBJECTS.some((key) => given[key] !== undefined);
  const isArray = typed && !isObject && given.items !== undefined;
  const type = isObject ? { type: 'object' } : isArray ? { type: 'array' } : {};
  const below = (value: unknown) => (typeof value === 'boolean' ? value : strict(value, depth + 1));
  const entries = Object.entries(given).map(([key, value]) => {
    if (KEYS_OF_SCHEMAS.has(key)) {
      const named = Object.entries(Schema.parse(value)).map(([name, one]) => [name, below(one)]);
      return [key, Object.fromEntries(named)];
    }
    if (LISTS_OF_SCHEMAS.has(key)) return [key, z.array(z.unknown()).parse(value).map(below)];
    if (key === 'items' && Array.isArray(value)) return [key, value.map(below)];
    return [key, SCHEMAS.has(key) ? below(value) : value];
  });
  return { ...Object.fromEntries(entries), ...type };
}

/** An answer that fits, as it is delivered; or what is wrong with it, for the model. */
export type CheckedJson = { readonly json: string } | { readonly wrong: string };

const MOST_ISSUES = 10;
const LONGEST_ISSUE = 200;

/** Checks the text of an answer. A code fence around all of it is taken off; nothing else is changed. */
export function checkJson(answer: string, format: ResponseFormat): CheckedJson {
  const json = withoutFence(answer.trim());
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    return { wrong: `it is no JSON: ${reasonOf(error).slice(0, LONGEST_ISSUE)}` };
  }
  const { error } = checkerOf(format).safeParse(value);
  if (error === undefined) return { json };
  const issues = error.issues.slice(0, MOST_ISSUES).map(({ path, message }) => {
    const where = path.length === 0 ? 'the whole' : path.map(String).join('.');
    return `${where}: ${message}`.slice(0, LONGEST_ISSUE);
  });
  return { wrong: issues.join('; ') };
}

function withoutFence(text: string): string {
  const [, , inside] =
    /^(`{3,}|~{3,})[ \t]*(?:json[c5]?)?[ \t]*\n([\s\S]*?)\n?[ \t]*\1$/i.exec(text) ?? [];
  return inside?.trim() ?? text;
}

/** The answer did not fit, also not when the model was asked once more. For people. */
export class ResponseFormatError extends ParleyError {
  constructor(wrong: string) {
    const message = `The model’s answer does not fit the response format, also not after it was asked once more, so it is not delivered: ${wrong}`;
    super({ code: 'response-format', message, retryable: true });
  }
}
