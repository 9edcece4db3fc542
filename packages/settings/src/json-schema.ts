import { z } from 'zod';
import type { AllowedEntries, SettingsPath } from './source.ts';

/** A draft 7 JSON Schema, which every YAML editor supports. */
export type JsonSchema = z.core.JSONSchema.JSONSchema;

/** A schema; `true` accepts everything, and `false` accepts nothing. */
export type Schema = JsonSchema | boolean;

/** The schemas of the settings package itself. */
export interface BuiltInSchemas {
  /** All sections except `model` and `channels`. */
  readonly core: z.ZodType;
  /** The keys that every channel account has. */
  readonly account: z.ZodType;
  readonly accountName: RegExp;
}

/** The schemas defined elsewhere: one for each channel by its id, and one for the models. */
export interface ExternalSchemas {
  /**
   * The schema for an account's settings without the common keys, by channel. It must be a strict
   * object, because unknown keys would otherwise go unnoticed.
   */
  readonly channelSchemas: Readonly<Record<string, z.ZodType>>;
  /**
   * The channels in `channelSchemas` that exist because the settings name their package with `use`.
   */
  readonly hosted?: readonly string[];
  /**
   * The settings of one account of a channel with any `use`; absent if the settings cannot contain
   * such a channel.
   */
  readonly hostedSchema?: z.ZodType | undefined;
  /**
   * The schema of the `model` section, which must have a default for files without that section.
   */
  readonly modelSchema: z.ZodType;
}

/**
 * Composes the JSON Schema for the whole settings file, as precise as the zod schemas. All
 * suggestions are based on this schema. The schemas are parameters, so that this module can be
 * loaded separately; most starts do not need it.
 */
export function composeJsonSchema(
  own: BuiltInSchemas,
  { channelSchemas, hosted = [], hostedSchema, modelSchema }: ExternalSchemas,
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
      agents: addModelSchema(core.properties?.agents, model),
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

/** Each agent may have its own model, or use one from `model.choices` by name. */
function addModelSchema(agents: Schema | undefined, model: JsonSchema): JsonSchema {
  const record = typeof agents === 'object' ? agents : {};
  const one = typeof record.additionalProperties === 'object' ? record.additionalProperties : {};
  const { default: _, ...own } = model;
  const named = { type: 'string', description: 'The name of a model in model.choices.' } as const;
  const description =
    "The agent's model: a block as in the `model` section, or a name in model.choices.";
  const properties = { ...one.properties, model: { description, anyOf: [own, named] } };
  return { ...record, additionalProperties: { ...one, properties } };
}

/** Creates the JSON Schema for a profile file, used for suggestions. */
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
  { account: commonKeys, accountName }: BuiltInSchemas,
  schema: z.ZodType,
  isHosted: boolean,
): JsonSchema {
  const { title, description, ...own } = toJsonSchema(schema);
  const common = toJsonSchema(commonKeys);
  const { use: ofAccount, ...properties } = { ...common.properties, ...own.properties };
  const account: JsonSchema = {
    ...own,
    type: 'object',
    // All accounts of a hosted channel have the same `use`.
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
export function listAllowedEntries(root: JsonSchema, path: SettingsPath): AllowedEntries {
  let schemas = listAlternatives(root);
  for (const step of path) schemas = schemas.flatMap((schema) => listSubschemas(schema, step));
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

function listSubschemas(schema: JsonSchema, step: string | number): JsonSchema[] {
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
