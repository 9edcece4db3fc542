import { measureSchema } from '@parley/core';
import { HOSTILE_SCHEMAS, SLOW_SCHEMAS } from '@parley/core/testing/hostile-schemas';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { parseCatalog } from '../catalogue.ts';
import { type CleanSchema, createOfferedSchema } from './offer-schema.ts';

function cleaned(schema: unknown): CleanSchema | null {
  try {
    return createOfferedSchema(schema).schema;
  } catch {
    return null; // The schema is too large, so the tool is left out.
  }
}

describe('the schema of an MCP tool', () => {
  it.each([...HOSTILE_SCHEMAS, ...SLOW_SCHEMAS].map((one) => [one.what, one] as const))(
    '[D13] is left out or rebuilt so that validation against it always terminates: %s',
    (_what, { schema, value }) => {
      const clean = cleaned(schema);
      if (clean === null) return;
      expect(measureSchema(clean).isPredictable).toBe(true);
      z.fromJSONSchema({ ...clean }).safeParse(value);
    },
  );

  it('[D13] counts toward its server’s total, and tools beyond the total are left out', () => {
    const properties = Object.fromEntries(
      Array.from({ length: 390 }, (_, nth) => [`p${nth}`, { type: ['string', 'null'] }]),
    );
    const inputSchema = { type: 'object', properties };
    const offered = Array.from({ length: 24 }, (_, nth) => ({ name: `t${nth}`, inputSchema }));
    const { tools, refused } = parseCatalog(
      { items: offered, problem: null },
      { items: [], problem: null },
    );
    expect(JSON.stringify(tools.map(({ schema }) => schema)).length).toBeLessThan(210_000);
    expect(refused.map(({ reason }) => reason)).toContain(
      'the argument schemas of this server are too large in total',
    );
  });

  it('[G03] names each type only once', () => {
    const a = { type: ['object', 'null', 'object'] };
    expect(createOfferedSchema({ properties: { a } }).schema).toEqual({
      type: 'object',
      properties: { a: { type: ['object', 'null'] } },
    });
  });
});
