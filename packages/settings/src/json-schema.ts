import { z } from 'zod';
import type { AllowedEntries, SettingsPath } from './source.ts';

/** A JSON Schema of draft 7, which every YAML editor supports. */
export type JsonSchema = z.core.JSONSchema.JSONSchema;

/** A schema; `true` and `false` accept everything and nothing. */
export type Schema = JsonSchema | boolean;

/** The schemas of the settings package itself. */
export interface OwnSchemas {
  /** All sections but `model` and `channels`. */
  readonly core: z.ZodType;
  /** The keys that every channel account has. */
  readonly account: z.ZodType;
  readonly accountName: RegExp;
}

/** The schemas defined elsewhere: one for each channel by its id, and that of the models. */
export interface ForeignSchemas {
  /**
   * The settings of one account without the common keys; must be strict objects, or unknown keys go
   * unnoticed.
   */
  readonly channelSchemas: Readonly<Record<string, z.ZodType>>;
  /**
   * Those of `channelSchemas` that exist because the settings name their package with `use`. */
  readonly hosted?: readonly string[];
  /** The settings of one account of a channel with any `use`; absent if there cannot be one. */
  readonly hostedSchema?: z.ZodType | undefined;
  /** The schema of the section `model`, which must have a default for files without that section.
   */
  readonly modelSchema: z.ZodType;
}

/**
 * Composes the JSON Schema of the whole settings file, as precise as the zod schemas. All
 * suggestions are based on this schema. The schemas are parameters, so that this module, which most starts do not need, is
 * loaded on its own.
 */
export function composeJsonSchema(
  own: OwnSchemas,
  { channelSchemas, hosted = [], hostedSchema, modelSchema }: ForeignSchemas,
): JsonSchema {
  const core = toJsonSchema(own.core);
  const model = toJsonSchema(modelSchema);
  const shapeOf = (schema: z.ZodType, isHosted: boolean) => toChannelSchema(own, schema, isHosted);
  const channels = Object.entries(channelSchemas).map(([id, schema]) => [
    id,
    shapeOf(schema, hosted.includes(id)),
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
        additionalProperties: hostedSchema === undefined ? false : shapeOf(hostedSchema, true),
      },
    },
  };
}

/** Each agent may have its own model, or name one of `model.choices`. */
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

const USE_SCHEMA: JsonSchema = {
  type: 'string',
  description:
    'The npm package of a Chat SDK adapter, which Parley hosts under this name: @chat-adapter/slack. Only for names that are not built-in channels.',
};

function toChannelSchema(
  { account: commonKeys, accountName }: OwnSchemas,
  schema: z.ZodType,
  isHosted: boolean,
): JsonSchema {
  const { title, description, ...own } = toJsonSchema(schema);
  const common = toJsonSchema(commonKeys);
  const { use: ofAccount, ...properties } = { ...common.properties, ...own.properties };
  const account: JsonSchema = {
    ...own,
    type: 'object',
    // Of a hosted channel, all accounts have the same.
    properties:
      isHosted || ofAccount === undefined ? properties : { ...properties, use: ofAccount },
  };
  const use = isHosted ? { use: USE_SCHEMA } : {};
  const needsUse = isHosted ? ['use'] : [];
  const one: JsonSchema = {
    ...account,
    properties: { ...use, ...account.properties },
    ...(isHosted && { required: [...needsUse, ...(account.required ?? [])] }),
    title: 'One account',
  };
  const several: JsonSchema = {
    type: 'object',
    properties: {
      ...use,
      accounts: {
        type: 'object',
        description: 'Several accounts, each with a name.',
        propertyNames: { pattern: accountName.source },
        additionalProperties: account,
      },
    },
    required: [...needsUse, 'accounts'],
    additionalProperties: false,
  };
  return {
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    anyOf: [one, { ...several, title: 'Several accounts' }],
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
