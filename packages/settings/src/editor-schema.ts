import { OWN_SCHEMAS } from './allowed.ts';
import {
  composeJsonSchema,
  type ExternalSchemas,
  type JsonSchema,
  type Schema,
} from './json-schema.ts';
import { getSettingLabel } from './labels.ts';
import type { SettingsPath } from './source.ts';

/** A reference, which may replace any single value. */
const REFERENCE: JsonSchema = {
  type: 'string',
  pattern: '\\$\\{.+\\}',
  description: 'An environment variable or a file that contains the value.',
};

/**
 * The schema for editors, for completion and explanations without false positives. Beyond the plain
 * schema it allows references in place of values, and sections whose lines are commented out.
 */
export function createSettingsJsonSchema(schemas: ExternalSchemas): JsonSchema {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Parley settings',
    ...adaptForEditors(addLabels(composeJsonSchema(OWN_SCHEMAS, schemas))),
  };
}

function adaptForEditors(schema: JsonSchema): JsonSchema {
  const inner = mapInnerSchemas(schema, (one) =>
    typeof one === 'boolean' ? one : adaptForEditors(one),
  );
  if (schema.type === 'object') return { ...inner, type: ['object', 'null'] } as JsonSchema;
  return needsAlternative(schema) ? allowReference(inner) : inner;
}

/**
 * Applies a function to inner schemas. `step` is the key of an inner schema, `*` if people choose
 * the key, or undefined for an alternative of the same value.
 */
function mapInnerSchemas(
  schema: JsonSchema,
  one: (inner: Schema, step?: string) => Schema,
): JsonSchema {
  const { properties, items, additionalProperties, anyOf, oneOf, allOf } = schema;
  const entries = Object.entries(properties ?? {});
  return {
    ...schema,
    ...(properties && { properties: Object.fromEntries(entries.map(([k, s]) => [k, one(s, k)])) }),
    ...(items !== undefined && !Array.isArray(items) && { items: one(items, '*') }),
    ...(additionalProperties !== undefined && {
      additionalProperties: one(additionalProperties, '*'),
    }),
    ...(anyOf && { anyOf: anyOf.map((inner) => one(inner)) }),
    ...(oneOf && { oneOf: oneOf.map((inner) => one(inner)) }),
    ...(allOf && { allOf: allOf.map((inner) => one(inner)) }),
  } as JsonSchema;
}

/**
 * Whether a reference has to be allowed explicitly. Free text accepts a reference anyway, and a
 * fixed word (`provider: anthropic`) guides completion.
 */
function needsAlternative(schema: JsonSchema): boolean {
  if (schema.enum !== undefined || schema.pattern !== undefined || schema.format !== undefined)
    return true;
  return schema.type === 'number' || schema.type === 'integer' || schema.type === 'boolean';
}

function allowReference({
  title,
  description,
  default: fallback,
  ...rest
}: JsonSchema): JsonSchema {
  return {
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    ...(fallback === undefined ? {} : { default: fallback }),
    anyOf: [removeIntegerLimits(rest), REFERENCE],
  };
}

/** Removes JavaScript's integer limits, which zod adds and which do not explain anything. */
function removeIntegerLimits({ minimum, maximum, ...rest }: JsonSchema): JsonSchema {
  return {
    ...rest,
    ...(minimum === undefined || minimum === Number.MIN_SAFE_INTEGER ? {} : { minimum }),
    ...(maximum === undefined || maximum === Number.MAX_SAFE_INTEGER ? {} : { maximum }),
  };
}

/** Adds the plain-language name of each setting as its title, unless the schema has its own. */
function addLabels(schema: JsonSchema, path: SettingsPath = []): JsonSchema {
  return mapInnerSchemas(schema, (inner, step) => {
    if (typeof inner === 'boolean') return inner;
    const below = step === undefined ? path : [...path, step];
    const named = addLabels(inner, below);
    const isNamed = named.title !== undefined || step === undefined || step === '*';
    const title = isNamed ? undefined : getSettingLabel(below);
    return title === undefined ? named : { title, ...named };
  });
}
