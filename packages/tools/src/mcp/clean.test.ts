import { measureSchema } from '@parley/core';
import { HOSTILE_SCHEMAS, SLOW_SCHEMAS } from '@parley/core/testing/hostile-schemas';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type CleanSchema, cleanSchema } from './clean.ts';

function cleaned(schema: unknown): CleanSchema | null {
  try {
    return cleanSchema(schema);
  } catch {
    return null; // Too large: the tool is left out.
  }
}

describe('the schema of a tool of a server', () => {
  it.each([...HOSTILE_SCHEMAS, ...SLOW_SCHEMAS].map((one) => [one.what, one] as const))(
    '[D13] is left out or rebuilt so that checks by it come to an end: %s',
    (_what, { schema, value }) => {
      const clean = cleaned(schema);
      if (clean === null) return;
      expect(measureSchema(clean).isPredictable).toBe(true);
      z.fromJSONSchema({ ...clean }).safeParse(value);
    },
  );

  it('[G03] names each type once', () => {
    const a = { type: ['object', 'null', 'object'] };
    expect(cleanSchema({ properties: { a } })).toEqual({
      type: 'object',
      properties: { a: { type: ['object', 'null'] } },
    });
  });
});
