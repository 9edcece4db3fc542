import { z } from 'zod';
import { ParleyError, reasonOf } from '../errors.ts';
import {
  type JsonSchema,
  measureSchema,
  SCHEMA_LISTS,
  SCHEMAS,
  SCHEMAS_BY_NAME,
} from './schema-risk.ts';

/**
 * The JSON format in which a turn has to answer because a program reads the answer (P04): any
 * object (`json`), or one that matches a JSON Schema. This is the stored form, which is not
 * validated because an earlier version may have accepted more.
 */
export const StoredResponseFormat = z.union(
  [z.literal('json'), z.record(z.string(), z.unknown())],
  'json, or a JSON Schema',
);
export type ResponseFormat = z.infer<typeof StoredResponseFormat>;

/**
 * The format as received from a third party. A schema that cannot be checked completely is refused,
 * and so is a schema whose check could take forever.
 */
export const ResponseFormat = StoredResponseFormat.superRefine((format, context) => {
  if (format === 'json') return;
  try {
    measureSchema(format);
    compileSchema(format);
  } catch (error) {
    const message = `json, or a JSON Schema that can be checked (${reasonOf(error)})`;
    context.addIssue({ code: 'custom', message });
  }
});

/** Compiles a schema so that every keyword is enforced. Throws if zod cannot check the schema. */
function compileSchema(schema: JsonSchema): z.ZodType {
  return z.fromJSONSchema(toStrictSchema(schema));
}

const Schema = z.record(z.string(), z.unknown());

const OF_OBJECTS = ['properties', 'patternProperties', 'required', 'additionalProperties'];

/**
 * Makes every keyword effective: otherwise, a schema that describes an object without `type:
 * object` would accept any value, and a `default` would accept a missing property.
 */
function toStrictSchema(schema: unknown): z.infer<typeof Schema> {
  const { default: _default, ...given } = Schema.parse(schema);
  const typed = given.type === undefined && given.$ref === undefined;
  const isObject = typed && OF_OBJECTS.some((key) => given[key] !== undefined);
  const isArray = typed && !isObject && given.items !== undefined;
  const type = isObject ? { type: 'object' } : isArray ? { type: 'array' } : {};
  const below = (value: unknown) => (typeof value === 'boolean' ? value : toStrictSchema(value));
  const entries = Object.entries(given).map(([key, value]) => {
    if (SCHEMAS_BY_NAME.has(key)) {
      const named = Object.entries(Schema.parse(value)).map(([name, one]) => [name, below(one)]);
      return [key, Object.fromEntries(named)];
    }
    if (SCHEMA_LISTS.has(key)) return [key, z.array(z.unknown()).parse(value).map(below)];
    if (key === 'items' && Array.isArray(value)) return [key, value.map(below)];
    return [key, SCHEMAS.has(key) ? below(value) : value];
  });
  return { ...Object.fromEntries(entries), ...type };
}

/** A valid answer as it is delivered, or a description of what is wrong with it, for the model. */
export type CheckedJson = { readonly json: string } | { readonly wrong: string };

const MAX_ISSUES = 10;
const MAX_ISSUE_LENGTH = 200;

/**
 * Checks the text of an answer. A code fence around the whole text is removed; nothing else is
 * changed. A schema can make the check take arbitrarily long, so it runs in a thread that can be
 * terminated (`check-thread.ts`). Throws if the schema cannot be checked.
 */
export function checkJsonAnswer(answer: string, format: ResponseFormat): CheckedJson {
  const json = stripJsonFence(answer.trim());
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    return { wrong: `it is not JSON: ${reasonOf(error).slice(0, MAX_ISSUE_LENGTH)}` };
  }
  const schema = format === 'json' ? Schema : compileSchema(format);
  const { error } = schema.safeParse(value);
  if (error === undefined) return { json };
  const issues = error.issues.slice(0, MAX_ISSUES).map(({ path, message }) => {
    const where = path.length === 0 ? 'the whole' : path.map(String).join('.');
    return `${where}: ${message}`.slice(0, MAX_ISSUE_LENGTH);
  });
  return { wrong: issues.join('; ') };
}

function stripJsonFence(text: string): string {
  const start = text.indexOf('\n') + 1;
  const [, fence] = /^(`{3,}|~{3,})[ \t]*(?:json[c5]?[ \t]*)?\n$/i.exec(text.slice(0, start)) ?? [];
  if (fence === undefined || !text.endsWith(fence)) return text;
  return text.slice(start, -fence.length).trim();
}

/**
 * Thrown if none of the model's answers matches the response format, or if that is not known. The
 * message is for people.
 */
export class ResponseFormatError extends ParleyError {
  constructor(message: string) {
    super({ code: 'response-format', message, retryable: true });
  }
}
