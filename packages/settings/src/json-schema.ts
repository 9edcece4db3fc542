import { z } from 'zod';
import { ACCOUNT_NAME, CommonAccountSettings } from './channels.ts';
import { CoreSettings } from './core-schema.ts';
import { getSettingLabel } from './labels.ts';
import type { AllowedEntries, SettingsPath } from './source.ts';

/** A JSON Schema of draft 7, which every YAML editor supports. */
export type JsonSchema = z.core.JSONSchema.JSONSchema;

/** Schemas defined by other packages: one for each channel by id, and that of the models. */
export interface ForeignSchemas {
  /**
   * The settings of one account without the common keys; must be strict objects, or unknown keys go
   * unnoticed.
   */
  readonly channelSchemas: Readonly<Record<string, z.ZodType>>;
  /**
   * The schema of the section `model`, which must have a default for files without that section.
   */
  readonly modelSchema: z.ZodType;
}

/**
 * Composes the JSON Schema of the whole settings file, as precise as the zod schemas. All
 * suggestions are based on this schema.
 */
export function composeJsonSchema({ channelSchemas, modelSchema }: ForeignSchemas): JsonSchema {
  const core = toJsonSchema(CoreSettings);
  const model = toJsonSchema(modelSchema);
  const channels = Object.entries(channelSchemas).map(([id, schema]) => [
    id,
    toChannelSchema(schema),
  ]);
  return {
    ...core,
    properties: {
      ...core.properties,
      agents: addModel(core.properties?.agents, model),
      model: { ...model, description: 'The model that answers.' },
      channels: {
        type: 'object',
        description: 'Where people can write to the agent.',
        properties: Object.fromEntries(channels),
        additionalProperties: false,
      },
    },
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

/** Lets each agent have a separate model, or name one of `model.choices`. */
function addModel(agents: Schema | undefined, model: JsonSchema): JsonSchema {
  const record = typeof agents === 'object' ? agents : {};
  const one = typeof record.additionalProperties === 'object' ? record.additionalProperties : {};
  const { default: _, ...own } = model;
  const named = { type: 'string', description: 'The name of a model in model.choices.' } as const;
  const description =
    "The agent's model: a block as in the section `model`, or a name in model.choices.";
  const properties = { ...one.properties, model: { description, anyOf: [own, named] } };
  return { ...record, additionalProperties: { ...one, properties } };
}

/** Creates the JSON Schema of a profile file, used for suggestions. */
export function createProfileJsonSchema(
  profileSchema: z.ZodType,
  modelSchema: z.ZodType,
): JsonSchema {
  const profile = toJsonSchema(profileSchema);
  return { ...profile, properties: { ...profile.properties, model: toJsonSchema(modelSchema) } };
}

function toChannelSchema(schema: z.ZodType): JsonSchema {
  const { title, description, ...own } = toJsonSchema(schema);
  const common = toJsonSchema(CommonAccountSettings);
  const account: JsonSchema = {
    ...own,
    type: 'object',
    properties: { ...common.properties, ...own.properties },
  };
  const several: JsonSchema = {
    type: 'object',
    properties: {
      accounts: {
        type: 'object',
        description: 'Several accounts, each with a name.',
        propertyNames: { pattern: ACCOUNT_NAME.source },
        additionalProperties: account,
      },
    },
    required: ['accounts'],
    additionalProperties: false,
  };
  return {
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    anyOf: [
      { ...account, title: 'One account' },
      { ...several, title: 'Several accounts' },
    ],
  };
}

function toJsonSchema(schema: z.ZodType): JsonSchema {
  const {
    $schema: _dialect,
    '~standard': _standard,
    ...json
  } = z.toJSONSchema(schema, {
    io: 'input',
    target: 'draft-07',
    unrepresentable: 'any',
  }) as JsonSchema & { '~standard'?: unknown };
  return json;
}

type Schema = JsonSchema | boolean;

/** A reference, which may replace any single value. */
const REFERENCE: JsonSchema = {
  type: 'string',
  pattern: '\\$\\{.+\\}',
  description: 'Names an environment variable or a file with the value.',
};

/**
 * Creates the schema for editors, for completion and explanations without false positives. In
 * addition to the plain schema, it allows references in place of values, and sections whose lines
 * are commented out.
 */
export function createSettingsJsonSchema(schemas: ForeignSchemas): JsonSchema {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Parley settings',
    ...adaptForEditors(addLabels(composeJsonSchema(schemas))),
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
 * Maps inner schemas. `step` is the key of an inner schema, `*` when people choose the key, or
 * undefined for an alternative of the same value.
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
 * Whether a reference has to be allowed explicitly. Free text accepts one anyway, and a fixed word
 * (`provider: anthropic`) guides completion.
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

/** Removes JavaScript's integer limits, which zod adds and which do not help the reader. */
function removeIntegerLimits({ minimum, maximum, ...rest }: JsonSchema): JsonSchema {
  return {
    ...rest,
    ...(minimum === undefined || minimum === Number.MIN_SAFE_INTEGER ? {} : { minimum }),
    ...(maximum === undefined || maximum === Number.MAX_SAFE_INTEGER ? {} : { maximum }),
  };
}

/**
 * Lists the keys and fixed values that are allowed at `path`, over all alternatives in a schema.
 */
export function listAllowedAt(root: JsonSchema, path: SettingsPath): AllowedEntries {
  let schemas = listAlternatives(root);
  for (const step of path) schemas = schemas.flatMap((schema) => listSchemasBelow(schema, step));
  return {
    keys: [...new Set(schemas.flatMap((schema) => Object.keys(schema.properties ?? {})))],
    values: [...new Set(schemas.flatMap(listFixedValues))],
  };
}

function listAlternatives(schema: Schema | undefined): JsonSchema[] {
  if (schema === undefined || typeof schema === 'boolean') return [];
  const inner = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])];
  return [schema, ...inner.flatMap(listAlternatives)];
}

function listSchemasBelow(schema: JsonSchema, step: string | number): JsonSchema[] {
  if (typeof step === 'number') {
    return Array.isArray(schema.items) ? [] : listAlternatives(schema.items);
  }
  const properties = schema.properties ?? {};
  return listAlternatives(
    Object.hasOwn(properties, step) ? properties[step] : schema.additionalProperties,
  );
}

function listFixedValues(schema: JsonSchema): string[] {
  const fixed = schema.const === undefined ? (schema.enum ?? []) : [schema.const];
  return fixed.filter((value) => typeof value === 'string');
}
