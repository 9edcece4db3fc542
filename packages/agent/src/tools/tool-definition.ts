import { measureSchema, type SchemaSize } from '@parley/core';
import type { ModelTool } from '@parley/models';
import { z } from 'zod';
import type { Tool } from './tool.ts';

type JsonSchema = ModelTool['inputSchema'];

/**
 * The JSON Schema for an input, with every reference expanded. Throws if validation against the
 * schema could take forever.
 */
export function describeInput(input: z.ZodType): {
  readonly size: SchemaSize;
  readonly schema: JsonSchema;
} {
  const describe = (reused: 'ref' | 'inline') =>
    z.toJSONSchema(input, {
      io: 'input',
      reused,
      override: ({ jsonSchema }) => {
        // Zod adds these limits to every integer; in requests they would only cost tokens.
        if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
        if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      },
    });
  // Shared parts remain shared at first, because the expanded schema could exceed the memory.
  const shared = describe('ref');
  const size = measureSchema(shared);
  const { $schema: _dialect, ...schema } = shared.$defs === undefined ? shared : describe('inline');
  return { size, schema };
}

export function toDefinition(
  { name, summary, hint }: Pick<Tool, 'name' | 'summary' | 'hint'>,
  inputSchema: JsonSchema,
): ModelTool {
  const description = hint === undefined ? summary : `${summary} ${hint}`;
  return { name, description, inputSchema };
}

/**
 * Bounds that no model needs in advance: the arguments are checked against the whole schema, and
 * the error states the bound. In every request they would cost tokens.
 */
const CHECKED_ANYWAY: ReadonlySet<string> = new Set([
  ...['additionalProperties', 'minLength', 'maxLength', 'minItems', 'maxItems'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'default'],
]);

/** The schema of a built-in tool as it is sent to a model, without `CHECKED_ANYWAY`. */
export function shortenSchema(schema: JsonSchema): JsonSchema {
  const shorten = (value: unknown, isProperties: boolean): unknown => {
    if (Array.isArray(value)) return value.map((item: unknown) => shorten(item, false));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).flatMap(([key, inner]) =>
        !isProperties && CHECKED_ANYWAY.has(key)
          ? []
          : [[key, shorten(inner, !isProperties && key === 'properties')] as const],
      ),
    );
  };
  return Object.fromEntries(Object.entries(Object(shorten(schema, false))));
}
