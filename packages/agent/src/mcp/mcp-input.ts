import type { McpTool } from '@parley/tools/mcp';
import { z } from 'zod';

type ToolArguments = Record<string, unknown>;
type InputSchema = Readonly<Record<string, unknown>>;

/**
 * Validates a tool's arguments against the server's schema and passes them on as the model wrote
 * them. Arguments with alternatives are offered inside one property; if a model omits the property,
 * its fields are accepted directly.
 */
export function createInputSchema({
  schema,
  shape,
}: Pick<McpTool, 'schema' | 'shape'>): z.ZodType<ToolArguments> {
  const checked = z.fromJSONSchema(describeDefaults(schema), {
    registry: createDefaultsRenderer(),
  });
  const fitting = checked.pipe(z.record(z.string(), z.unknown()));
  const wrappedIn = shape?.wrappedIn;
  if (wrappedIn === undefined) return fitting;
  const wrap = (given: unknown) =>
    typeof given === 'object' && given !== null && !(wrappedIn in given)
      ? { [wrappedIn]: given }
      : given;
  return z.preprocess(wrap, fitting);
}

/** A default value that is described to the model but not filled in. */
const DESCRIBED_DEFAULT = 'parley-told-default';

/** Renders the key DESCRIBED_DEFAULT as `default`. */
function createDefaultsRenderer() {
  const registry = z.registry<Record<string, unknown>>();
  registry.add = (schema, ...[meta]) => {
    const { [DESCRIBED_DEFAULT]: told, ...rest } = z
      .record(z.string(), z.unknown())
      .parse(meta ?? {});
    z.globalRegistry.add(schema, { ...rest, default: told });
    return registry;
  };
  return registry;
}

/**
 * Turns the defaults in a schema into descriptions. The server fills in its defaults itself, and
 * many are not even valid, such as null for a string. Only a valid default of a required property
 * is kept.
 */
function describeDefaults(schema: InputSchema, stays = false): InputSchema {
  const { default: usual, ...rest } = schema;
  const told = usual === undefined ? {} : { [stays ? 'default' : DESCRIBED_DEFAULT]: usual };
  return { ...describeNestedDefaults(rest), ...told };
}

function describeNestedDefaults(schema: InputSchema): InputSchema {
  const entries = Object.entries(schema).map(([key, value]) => {
    if (key === 'properties') return [key, describePropertyDefaults(value, schema.required)];
    if (key === 'items' || key === 'additionalProperties')
      return [key, describeBlockDefaults(value)];
    if (key === 'anyOf' && Array.isArray(value)) return [key, value.map(describeBlockDefaults)];
    return [key, value];
  });
  return Object.fromEntries(entries);
}

const Block = z.record(z.string(), z.unknown());

function describeBlockDefaults(value: unknown): unknown {
  const schema = Block.safeParse(value).data;
  return schema === undefined ? value : describeDefaults(schema);
}

function describePropertyDefaults(said: unknown, required: unknown): unknown {
  const needed = Array.isArray(required) ? required : [];
  const all = Object.entries(Block.parse(said)).map(([name, value]) => {
    const property = Block.safeParse(value).data;
    if (property === undefined) return [name, value];
    return [name, describeDefaults(property, needed.includes(name) && isValidDefault(property))];
  });
  return Object.fromEntries(all);
}

function isValidDefault({ default: usual, ...schema }: InputSchema): boolean {
  return usual !== undefined && z.fromJSONSchema({ ...schema }).safeParse(usual).success;
}
