import { composeJsonSchema, type ForeignSchemas, type JsonSchema } from './json-schema.ts';

type Schema = JsonSchema | boolean;

/** What may stand in place of any single value. */
const REFERENCE: JsonSchema = {
  type: 'string',
  pattern: '\\$\\{.+\\}',
  description: 'An environment variable or a file that holds the value.',
};

/**
 * The schema for editors: completion, explanations, and no false alarms. Beyond the plain shape it
 * allows references in place of values, and sections whose lines are commented out.
 */
export function settingsJsonSchema(schemas: ForeignSchemas): JsonSchema {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Parley settings',
    ...forEditors(composeJsonSchema(schemas)),
  };
}

function forEditors(schema: JsonSchema): JsonSchema {
  const inner = withInner(schema);
  if (schema.type === 'object') return { ...inner, type: ['object', 'null'] } as JsonSchema;
  return needsAlternative(schema) ? withReference(inner) : inner;
}

function withInner(schema: JsonSchema): JsonSchema {
  const one = (inner: Schema): Schema => (typeof inner === 'boolean' ? inner : forEditors(inner));
  const { properties, items, additionalProperties, anyOf, oneOf, allOf } = schema;
  const entries = Object.entries(properties ?? {});
  return {
    ...schema,
    ...(properties && { properties: Object.fromEntries(entries.map(([k, s]) => [k, one(s)])) }),
    ...(items !== undefined && !Array.isArray(items) && { items: one(items) }),
    ...(additionalProperties !== undefined && { additionalProperties: one(additionalProperties) }),
    ...(anyOf && { anyOf: anyOf.map(one) }),
    ...(oneOf && { oneOf: oneOf.map(one) }),
    ...(allOf && { allOf: allOf.map(one) }),
  } as JsonSchema;
}

/** Free text holds a reference anyway; a fixed word (`provider: anthropic`) steers completion. */
function needsAlternative(schema: JsonSchema): boolean {
  if (schema.enum !== undefined || schema.pattern !== undefined || schema.format !== undefined)
    return true;
  return schema.type === 'number' || schema.type === 'integer' || schema.type === 'boolean';
}

function withReference({ description, default: fallback, ...rest }: JsonSchema): JsonSchema {
  return {
    ...(description === undefined ? {} : { description }),
    ...(fallback === undefined ? {} : { default: fallback }),
    anyOf: [withoutIntegerLimits(rest), REFERENCE],
  };
}

/** Zod adds the limits of JavaScript's whole numbers, which explain nothing to anybody. */
function withoutIntegerLimits({ minimum, maximum, ...rest }: JsonSchema): JsonSchema {
  return {
    ...rest,
    ...(minimum === undefined || minimum === Number.MIN_SAFE_INTEGER ? {} : { minimum }),
    ...(maximum === undefined || maximum === Number.MAX_SAFE_INTEGER ? {} : { maximum }),
  };
}
