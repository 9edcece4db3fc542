import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { toRunOptions } from '@parley/core/testing';
import { coerceCall } from '@parley/models/calls';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

const FOLDER = join(import.meta.dirname, 'arguments');

/** What a model wrote, and the tools that were offered. */
const Input = z.strictObject({
  call: z.strictObject({ name: z.string(), arguments: z.string() }),
  tools: z.array(
    z.strictObject({ name: z.string(), inputSchema: z.record(z.string(), z.unknown()) }),
  ),
});

/** The arguments that the tool takes, or what the model is told; `tool`: where another name was written. */
const Expected = z.union([
  z.strictObject({
    arguments: z.record(z.string(), z.unknown()),
    tool: z.string().optional(),
    note: z.string().optional(),
  }),
  z.strictObject({ problem: z.string() }),
]);

const names = readdirSync(FOLDER);
const cases = names
  .filter((name) => name.endsWith('.expected.json'))
  .map((name) => name.slice(0, -14));

function read(name: string) {
  const parsed = (file: string): unknown => JSON.parse(readFileSync(join(FOLDER, file), 'utf8'));
  const { call, tools } = Input.parse(parsed(`${name}.json`));
  const offered = tools.map((tool) => ({ ...tool, description: '' }));
  const expected = Expected.parse(parsed(`${name}.expected.json`));
  return { call: { id: 'x', ...call }, offered, expected };
}

describe('calls of weaker models', () => {
  it('[G20] have an expectation each', () => {
    const inputs = names.filter((name) => !name.endsWith('.expected.json'));
    expect(inputs.toSorted()).toEqual(cases.map((name) => `${name}.json`).toSorted());
  });

  it.each(cases)(
    '[G20] are read where the schema leaves one meaning, else say where they break: %s',
    (name) => {
      const { call, offered, expected } = read(name);
      const fitted = coerceCall(call, offered);
      if ('problem' in expected) {
        expect(fitted).toMatchObject({ problem: expected.problem });
        return;
      }
      expect(fitted).toMatchObject({ kind: 'fits', call: { name: expected.tool ?? call.name } });
      if (fitted.kind !== 'fits') return;
      const written = fitted.call.arguments;
      expect(written === '' ? {} : JSON.parse(written)).toEqual(expected.arguments);
    },
  );

  it.each(cases)('[G20] are read the same when they are read again: %s', (name) => {
    const { call, offered } = read(name);
    const once = coerceCall(call, offered);
    if (once.kind !== 'fits') return;
    expect(coerceCall(once.call, offered)).toEqual(once);
  });
});

const leaf = fc.oneof(
  fc.constantFrom(
    { type: 'string' },
    { type: 'string', minLength: 1 },
    { type: 'integer' },
    { type: 'number' },
    { type: 'boolean' },
    { type: 'string', format: 'date' },
    { type: ['string', 'null'] },
  ),
  fc
    .uniqueArray(fc.oneof(fc.string(), fc.integer(), fc.boolean()), { minLength: 1, maxLength: 4 })
    .map((values) => ({ enum: values })),
);

/** Schemas of the kinds that tools have. */
const { schema } = fc.letrec<{ schema: Record<string, unknown> }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3 },
    leaf,
    tie('schema').map((items) => ({ type: 'array', items })),
    fc.array(tie('schema'), { minLength: 1, maxLength: 3 }).map((anyOf) => ({ anyOf })),
    objectOf(tie('schema')),
  ),
}));

function objectOf(of: fc.Arbitrary<Record<string, unknown>>) {
  const name = fc.constantFrom('a', 'b', 'time_zone', 'timeZone', 'input', 'name');
  const closed = fc.constantFrom(
    {},
    { additionalProperties: false },
    { additionalProperties: true },
  );
  return fc
    .record({
      properties: fc.dictionary(name, of, { maxKeys: 4 }),
      closed,
      isRequired: fc.boolean(),
    })
    .map(({ properties, closed: more, isRequired }) => ({
      type: 'object',
      properties,
      ...(isRequired && { required: Object.keys(properties) }),
      ...more,
    }));
}

/** Values that a model could write, some of which fit. */
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<unknown>(
      null,
      '',
      'null',
      '5',
      5,
      1.5,
      true,
      'true',
      'a, b',
      '[1]',
      '{"a":1}',
      '2026-11-28',
      '1/2/2026',
    ),
    fc.string(),
    fc.integer(),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(
      fc.constantFrom('a', 'b', 'time_zone', 'timeZone', 'input', 'name'),
      tie('value'),
      { maxKeys: 4 },
    ),
  ),
}));

/** A value of a schema. */
function valueFor(given: Record<string, unknown>): fc.Arbitrary<unknown> {
  const { type, items, anyOf, enum: values, properties = {}, required, format, minLength } = given;
  if (Array.isArray(values)) return fc.constantFrom(...values);
  if (Array.isArray(anyOf)) return fc.oneof(...anyOf.map(valueFor));
  if (format === 'date') return fc.constantFrom('2026-11-28', '2024-02-29');
  switch (type) {
    case 'string':
      return fc.string({ minLength: Number(minLength ?? 0) });
    case 'integer':
      return fc.integer();
    case 'number':
      return fc.double({ noNaN: true, noDefaultInfinity: true });
    case 'boolean':
      return fc.boolean();
    case 'array':
      return fc.array(valueFor(Object(items)), { maxLength: 3 });
    case 'object': {
      const parts: Record<string, fc.Arbitrary<unknown>> = {};
      for (const [name, one] of Object.entries(Object(properties)))
        parts[name] = valueFor(Object(one));
      const requiredKeys = Object.keys(parts).filter(() => Array.isArray(required));
      return fc.record(parts, { requiredKeys });
    }
    default:
      return fc.oneof(fc.string(), fc.constant(null));
  }
}

const object = objectOf(schema);

describe('arguments', () => {
  it('[G20] that are valid are never changed', () => {
    fc.assert(
      fc.property(
        object.chain((one) => fc.tuple(fc.constant(one), valueFor(one))),
        ([inputSchema, given]) => {
          const written = JSON.stringify(given);
          const call = { id: 'x', name: 'make', arguments: written };
          const fitted = coerceCall(call, [{ name: 'make', description: '', inputSchema }]);
          expect(fitted).toEqual({ kind: 'fits', call });
        },
      ),
      toRunOptions(2_000),
    );
  });

  it('[G20] that any check takes as they are, are never changed', () => {
    fc.assert(
      fc.property(object, value, (inputSchema, given) => {
        fc.pre(typeof given === 'object' && given !== null && !Array.isArray(given));
        const declared = Object.keys(Object(inputSchema.properties));
        // A property that the schema does not name is ignored by tools, unless it was meant to be one of them.
        fc.pre(Object.keys(given).every((name) => declared.includes(name)));
        // The dearest condition comes last.
        fc.pre(z.fromJSONSchema(Object(inputSchema)).safeParse(given).success);
        const call = { id: 'x', name: 'make', arguments: JSON.stringify(given) };
        const fitted = coerceCall(call, [{ name: 'make', description: '', inputSchema }]);
        expect(fitted).toEqual({ kind: 'fits', call });
      }),
      toRunOptions(2_000),
    );
  });

  it('[G20] are read to the end whatever a model writes', () => {
    fc.assert(
      fc.property(
        object,
        fc.oneof(
          fc.string(),
          value.map((one) => JSON.stringify(one)),
        ),
        (inputSchema, written) => {
          const call = { id: 'x', name: 'make', arguments: written };
          const fitted = coerceCall(call, [{ name: 'make', description: '', inputSchema }]);
          expect(['fits', 'misfit']).toContain(fitted.kind);
        },
      ),
      toRunOptions(1_000),
    );
  });

  it('[G20] of a schema that refers to itself many times are read in a bounded time', () => {
    const again = { $ref: '#' };
    const inputSchema = { type: 'object', properties: { next: { anyOf: [again, again, again] } } };
    let given: unknown = 'no object';
    for (let depth = 0; depth < 30; depth += 1) given = { next: given };
    const call = { id: 'x', name: 'make', arguments: JSON.stringify(given) };
    expect(coerceCall(call, [{ name: 'make', description: '', inputSchema }])).toEqual({
      kind: 'fits',
      call,
    });
  });
});
