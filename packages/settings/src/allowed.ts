import type { JsonSchema } from './json-schema.ts';
import type { SettingsPath } from './path.ts';
import type { Allowed } from './source.ts';

type Schema = JsonSchema | boolean;

/** The keys and fixed values that may stand at `path`, over all alternatives a schema leaves open. */
export function allowedAt(root: JsonSchema, path: SettingsPath): Allowed {
  let schemas = alternatives(root);
  for (const step of path) schemas = schemas.flatMap((schema) => below(schema, step));
  return {
    keys: [...new Set(schemas.flatMap((schema) => Object.keys(schema.properties ?? {})))],
    values: [...new Set(schemas.flatMap(fixedValues))],
  };
}

function alternatives(schema: Schema | undefined): JsonSchema[] {
  if (schema === undefined || typeof schema === 'boolean') return [];
  const inner = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])];
  return [schema, ...inner.flatMap(alternatives)];
}

function below(schema: JsonSchema, step: string | number): JsonSchema[] {
  if (typeof step === 'number') {
    return Array.isArray(schema.items) ? [] : alternatives(schema.items);
  }
  const properties = schema.properties ?? {};
  return alternatives(
    Object.hasOwn(properties, step) ? properties[step] : schema.additionalProperties,
  );
}

function fixedValues(schema: JsonSchema): string[] {
  const fixed = schema.const === undefined ? (schema.enum ?? []) : [schema.const];
  return fixed.filter((value) => typeof value === 'string');
}
