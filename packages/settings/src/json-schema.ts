import { z } from 'zod';
import { ACCOUNT_NAME, CommonAccountSettings } from './channel-schema.ts';
import { CoreSettings } from './core-schema.ts';

/** A JSON Schema of draft 7, which every YAML editor understands. */
export type JsonSchema = z.core.JSONSchema.JSONSchema;

/** The schemas that settings do not know themselves: each channel's by its id, and the models'. */
export interface ForeignSchemas {
  /** One account's own settings, without the common keys. Strict objects, or unknown keys go unseen. */
  readonly channelSchemas: Readonly<Record<string, z.ZodType>>;
  /** The section `model`. Must have a default, for files without that section. */
  readonly modelSchema: z.ZodType;
}

/** The shape of the whole settings file, as precise as the schemas; the base of all suggestions. */
export function composeJsonSchema({ channelSchemas, modelSchema }: ForeignSchemas): JsonSchema {
  const core = toJson(CoreSettings);
  const channels = Object.entries(channelSchemas).map(([id, schema]) => [id, channelShape(schema)]);
  return {
    ...core,
    properties: {
      ...core.properties,
      model: { ...toJson(modelSchema), description: 'The model that answers.' },
      channels: {
        type: 'object',
        description: 'Where people can write to the agent.',
        properties: Object.fromEntries(channels),
        additionalProperties: false,
      },
    },
  };
}

/** The shape of a profile file, for suggestions. */
export function profileJsonSchema(profileSchema: z.ZodType, modelSchema: z.ZodType): JsonSchema {
  const profile = toJson(profileSchema);
  return { ...profile, properties: { ...profile.properties, model: toJson(modelSchema) } };
}

function channelShape(schema: z.ZodType): JsonSchema {
  const own = toJson(schema);
  const common = toJson(CommonAccountSettings);
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
  return { anyOf: [account, several] };
}

function toJson(schema: z.ZodType): JsonSchema {
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
