/** A third-party JSON Schema, and a value whose validation would take forever. */
export interface HostileSchema {
  readonly what: string;
  readonly schema: Readonly<Record<string, unknown>>;
  readonly value: unknown;
}

/** A regular expression, and text for which its running time doubles with each character. */
export interface HostilePattern {
  readonly pattern: string;
  readonly text: string;
}

const NEARLY = `${'a'.repeat(40)}!`;

export const HOSTILE_PATTERNS: readonly HostilePattern[] = [
  '^(a+)+$',
  '^(a*)*$',
  '^(a|aa)+$',
  '^(a|a)*$',
  '^(\\w+\\s?)*$',
  '^(?:a?){0,40}a{40}$|^(.*)*$',
  '^(([a-z])+.)+[A-Z]([a-z])+$',
  '^(?=(a+)+$)',
  '(a{1,20}){1,20}$',
].map((pattern) => ({ pattern, text: NEARLY }));

/**
 * Expressions that are slow on long text but polynomial in its length, and therefore allowed and
 * terminated.
 */
export const SLOW_PATTERN: HostilePattern = {
  pattern: '^.*.*.*.*.*b$',
  text: 'a'.repeat(2_000),
};

/** All positions in a schema at which a regular expression can appear. */
const PLACES: readonly ((pattern: HostilePattern) => Omit<HostileSchema, 'what'>)[] = [
  ({ pattern, text }) => ({
    schema: { type: 'object', properties: { a: { type: 'string', pattern } } },
    value: { a: text },
  }),
  ({ pattern, text }) => ({
    schema: { type: 'object', patternProperties: { [pattern]: {} } },
    value: { [text]: 1 },
  }),
  ({ pattern, text }) => ({
    schema: { type: 'object', propertyNames: { pattern } },
    value: { [text]: 1 },
  }),
  ({ pattern, text }) => ({
    schema: {
      type: 'object',
      properties: { a: { type: 'array', items: { anyOf: [{ type: 'string', pattern }] } } },
    },
    value: { a: [text] },
  }),
  ({ pattern, text }) => ({
    schema: {
      type: 'object',
      properties: { a: { $ref: '#/$defs/a' } },
      $defs: { a: { type: ['null', 'string'], pattern } },
    },
    value: { a: text },
  }),
  ({ pattern, text }) => ({
    schema: {
      type: 'object',
      properties: { a: { type: 'array', prefixItems: [{ type: 'string', pattern }] } },
    },
    value: { a: [text] },
  }),
  ({ pattern, text }) => ({
    schema: {
      type: 'object',
      properties: { a: { type: 'array', contains: { type: 'string', pattern } } },
    },
    value: { a: [text] },
  }),
  ({ pattern, text }) => ({
    schema: { type: 'object', additionalProperties: { type: 'string', pattern } },
    value: { a: text },
  }),
];

/** A schema in which each definition refers to the next one twice. */
function createDoublingSchema(how: (next: object) => object): Readonly<Record<string, unknown>> {
  const names = Array.from({ length: 40 }, (_, nth) => `d${nth}`);
  const last = { type: 'object', required: ['missing'] };
  const definitions = names.map((name, nth) => {
    const next = names[nth + 1];
    return [name, next === undefined ? last : how({ $ref: `#/$defs/${next}` })];
  });
  return {
    type: 'object',
    properties: { a: { $ref: '#/$defs/d0' } },
    $defs: Object.fromEntries(definitions),
  };
}

function nestSchema(depth: number, inner: object, around: (inner: object) => object): object {
  let schema = inner;
  for (let level = 0; level < depth; level += 1) schema = around(schema);
  return schema;
}

const inA = (schema: object) => ({ type: 'object', properties: { a: schema } });
const inNext = (next: object) => ({ type: 'object', properties: { next } });
const INSIDE = inA({ type: 'string' });

const EXPLODING: readonly HostileSchema[] = [
  ...['allOf', 'anyOf', 'oneOf'].map((keyword) => ({
    what: `references doubled by ${keyword}`,
    schema: createDoublingSchema((next) => ({ [keyword]: [next, next] })),
    value: { a: {} },
  })),
  {
    what: 'references doubled by two properties',
    schema: createDoublingSchema((next) => ({ type: 'object', properties: { b: next, c: next } })),
    value: { a: {} },
  },
  {
    what: 'types named twice at each level',
    schema: inA(nestSchema(40, INSIDE, (a) => ({ type: ['object', 'object'], properties: { a } }))),
    value: {},
  },
  {
    what: 'a reference that leads back to itself',
    schema: { ...inA({ $ref: '#/$defs/d' }), $defs: { d: { anyOf: [{ $ref: '#/$defs/d' }] } } },
    value: { a: 1 },
  },
  {
    what: 'one reference in a thousand spellings',
    schema: {
      ...inA({
        anyOf: Array.from({ length: 600 }, (_, nth) => ({ $ref: `#/$defs/d/${nth}` })),
      }),
      $defs: {
        d: { anyOf: Array.from({ length: 500 }, (_, nth) => ({ const: nth })) },
      },
    },
    value: { a: 'x' },
  },
  {
    what: 'deep nesting of schemas',
    schema: inA(nestSchema(1_000, { type: 'string' }, (a) => inA(a))),
    value: {},
  },
  {
    what: 'deep nesting of other values',
    schema: inA({ enum: [nestSchema(1_500, {}, (a) => ({ a }))] }),
    value: { a: 1 },
  },
  {
    what: 'many choices',
    schema: inA({ type: 'array', items: { anyOf: Array.from({ length: 5_000 }, () => ({})) } }),
    value: { a: [] },
  },
];

/** Schemas that must be refused on arrival. */
export const HOSTILE_SCHEMAS: readonly HostileSchema[] = [
  ...HOSTILE_PATTERNS.flatMap((pattern) =>
    PLACES.map((place, nth) => ({
      what: `${pattern.pattern} in place ${nth + 1}`,
      ...place(pattern),
    })),
  ),
  ...EXPLODING,
];

/** Schemas that are allowed, because their size does not predict their running time. */
export const SLOW_SCHEMAS: readonly HostileSchema[] = [
  ...PLACES.map((place, nth) => ({
    what: `a slow pattern in place ${nth + 1}`,
    ...place(SLOW_PATTERN),
  })),
  {
    what: 'recursion that repeats every mistake twice',
    schema: {
      ...inA({ $ref: '#/$defs/d' }),
      $defs: { d: { allOf: [inNext({ $ref: '#/$defs/d' }), inNext({ $ref: '#/$defs/d' })] } },
    },
    value: { a: nestSchema(60, { next: 5 }, (next) => ({ next })) },
  },
];
