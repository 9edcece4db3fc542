import { toRunOptions } from '@parley/core/testing';
import { parseCatalog } from '@parley/tools/testing/mcp-reading';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { listServerCalls, readOutcome } from './mcp-outcome.ts';

type Json = Record<string, unknown>;

const NAMES = ['a', 'b', '$filter', 'filter', 'first name', 'a.b', '名前', 'x[y]', 'type', 'input'];
const name = fc.constantFrom(...NAMES, 'toString', 'q'.repeat(90));

/** Any keyword with any value: what no generator writes, but some server might. */
const junk = fc.letrec<{ node: unknown; value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', maxDepth: 4 },
    fc.constantFrom(
      null,
      true,
      false,
      0,
      -1,
      Number.MAX_VALUE,
      '',
      'object',
      'string',
      'any',
      '#',
      '#/$defs/a',
    ),
    tie('node'),
    fc.array(tie('node'), { maxLength: 3 }),
  ),
  node: fc.dictionary(
    fc.oneof(
      fc.constantFrom(
        'type',
        'properties',
        'required',
        'items',
        'enum',
        'const',
        'default',
        '$ref',
      ),
      fc.constantFrom('anyOf', 'oneOf', 'allOf', 'not', 'if', '$defs', 'additionalProperties'),
      fc.constantFrom('nullable', 'minLength', 'maximum', 'prefixItems', 'format', 'description'),
      name,
    ),
    tie('value'),
    { maxKeys: 5 },
  ),
}));

interface Pair {
  readonly schema: Json;
  /** Arguments that fit the schema. */
  readonly value: unknown;
}

const plain: fc.Arbitrary<Pair> = fc.oneof(
  fc.record({
    schema: fc.constantFrom<Json>(
      { type: 'string' },
      { type: ['string', 'null'], title: 'T' },
      { type: 'string', format: 'date', default: null },
      { anyOf: [{ type: 'string' }, { type: 'null' }], default: null },
      {},
    ),
    value: fc.string(),
  }),
  fc.record({ schema: fc.constant<Json>({ type: 'integer', default: 'x' }), value: fc.nat() }),
  fc.constant<Pair>({ schema: { enum: ['x', null, 1], default: 'x' }, value: null }),
  fc.constant<Pair>({ schema: { type: 'boolean', nullable: true }, value: null }),
);

const objectOf = (inner: fc.Arbitrary<Pair>): fc.Arbitrary<Pair> =>
  fc
    .dictionary(name, fc.tuple(inner, fc.constantFrom('needed', 'given', 'left')), { maxKeys: 4 })
    .map((fields) => {
      const all = Object.entries(fields);
      const isGiven = all.filter(([, [, how]]) => how !== 'left');
      const required = all.filter(
        ([, [{ schema }, how]]) => how === 'needed' && !('default' in schema),
      );
      return {
        schema: {
          type: 'object',
          properties: Object.fromEntries(all.map(([key, [{ schema }]]) => [key, schema])),
          required: required.map(([key]) => key),
        },
        value: Object.fromEntries(isGiven.map(([key, [{ value }]]) => [key, value])),
      };
    });

const nested = fc.letrec<{ any: Pair }>((tie) => ({
  any: fc.oneof(
    { depthSize: 'small', maxDepth: 3 },
    plain,
    objectOf(tie('any')),
    fc.array(tie('any'), { minLength: 1, maxLength: 1 }).map(([one]) => ({
      schema: { type: 'array', items: one?.schema },
      value: [one?.value],
    })),
    tie('any').map(({ schema, value }) => ({
      schema: { type: 'object', additionalProperties: schema },
      value: { filter: value, first_name: value },
    })),
  ),
}));
const object = objectOf(nested.any);
const root = fc.oneof(
  object,
  fc.tuple(object, object).map(([{ schema, value }, other]) => ({
    schema: { anyOf: [schema, other.schema] },
    value,
  })),
  object.map(({ schema, value }) => ({
    schema: { $ref: '#/$defs/Own', $defs: { Own: schema } },
    value,
  })),
);

const Offered = z.object({
  offered: z.array(z.object({ name: z.string(), inputSchema: z.record(z.string(), z.unknown()) })),
  leftOut: z.record(z.string(), z.string()).optional(),
});
const bytes = (said: unknown) => Buffer.from(JSON.stringify(said));
const listed = (inputSchema: unknown) => ({ tools: [{ name: 't', inputSchema }] });
const Block = z.record(z.string(), z.unknown());

/** What OpenAI, Anthropic and Google refuse of a schema at this place or below. */
function refusals(said: unknown): readonly string[] {
  const node = Block.safeParse(said).data;
  if (node === undefined) return [];
  const properties = Block.safeParse(node.properties).data ?? {};
  const options = z.array(z.unknown()).safeParse(node.anyOf).data ?? [];
  return [
    ...['$ref', 'oneOf', 'not', 'pattern', '$defs'].filter((key) => key in node),
    ...Object.keys(properties).filter((key) => !/^[a-zA-Z0-9_.-]{1,64}$/.test(key)),
    ...(node.type === 'array' && node.items === undefined ? ['a list of nothing'] : []),
    ...[...Object.values(properties), ...options, node.items, node.additionalProperties].flatMap(
      refusals,
    ),
  ];
}

/** The value with the names that a model is shown, in place of those of the server. */
function asShown(value: unknown, renames: Renames | undefined): unknown {
  if (renames === undefined || typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((one) => asShown(one, renames.items));
  const shown = new Map([...renames.originals].map(([known, original]) => [original, known]));
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => {
      const known = shown.get(key) ?? key;
      return [known, asShown(one, renames.properties.get(known) ?? renames.others)];
    }),
  );
}
type Catalogue = ReturnType<typeof parseCatalog>;
type Renames = NonNullable<NonNullable<Catalogue['tools'][number]['shape']>['renamed']>;

describe('[G03] schemas of MCP servers, whatever they are', () => {
  it('are offered so that every provider takes them, or left out by name', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          junk.node,
          junk.value,
          root.map(({ schema }) => schema),
        ),
        async (schema) => {
          const { offered, leftOut } = Offered.parse(
            await readOutcome('x.json', bytes(listed(schema))),
          );
          expect(offered.length + Object.keys(leftOut ?? {}).length).toBe(1);
          for (const { name: shown, inputSchema } of offered) {
            expect(shown).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
            expect(inputSchema.type).toBe('object');
            const atRoot = ['anyOf', 'allOf', 'enum', 'const'].filter((key) => key in inputSchema);
            expect([...atRoot, ...refusals(inputSchema)]).toEqual([]);
          }
        },
      ),
      toRunOptions(300),
    );
  });

  it('send a server the arguments that fit, unchanged', async () => {
    await fc.assert(
      fc.asyncProperty(root, async ({ schema, value }) => {
        const said = bytes(listed(schema));
        const { tools } = parseCatalog({ items: listed(schema).tools, problem: null }, NONE);
        const shown = asShown(value, tools[0]?.shape?.renamed);
        const wrappedIn = tools[0]?.shape?.wrappedIn;
        const given = wrappedIn === undefined ? shown : { [wrappedIn]: shown };
        expect(await listServerCalls(said, [{ tool: 's_t', given }])).toEqual([
          { tool: 's_t', given, sent: value },
        ]);
      }),
      toRunOptions(300),
    );
  });

  it('have names that are all different and that every provider takes', async () => {
    const names = fc.uniqueArray(fc.oneof(name, fc.string({ maxLength: 120, unit: 'grapheme' })), {
      maxLength: 30,
    });
    await fc.assert(
      fc.asyncProperty(names, async (all) => {
        const tools = all.map((one) => ({ name: one }));
        const { offered, leftOut } = Offered.parse(await readOutcome('x.json', bytes({ tools })));
        const shown = offered.map((one) => one.name);
        for (const one of shown) expect(one).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
        expect(new Set(shown).size).toBe(shown.length);
        expect(shown.length).toBe(all.filter((one) => one.trim() !== '').length);
        expect(leftOut === undefined).toBe(shown.length === all.length);
      }),
      toRunOptions(100),
    );
  });
});

const NONE = { items: [], problem: null };
