import { findPatternRisk } from './pattern-risk.ts';

/** A JSON Schema, or a part of one, as an object. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** Keywords whose values are named schemas, lists of schemas, and single schemas. */
export const SCHEMAS_BY_NAME: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
]);
export const SCHEMA_LISTS: ReadonlySet<string> = new Set([
  'anyOf',
  'oneOf',
  'allOf',
  'prefixItems',
]);
export const SCHEMAS: ReadonlySet<string> = new Set([
  'items',
  'additionalItems',
  'additionalProperties',
  'contains',
  'propertyNames',
  'not',
]);
/**
 * The schemas of these keywords apply to the same value as the enclosing schema; all others apply
 * to parts of it.
 */
const SAME_VALUE: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'allOf', 'not']);
const DEFINITIONS: ReadonlySet<string> = new Set(['$defs', 'definitions']);

/** The maximum size of a JSON Schema, in characters. */
const MAX_LENGTH = 32_000;
/** The maximum nesting of schemas, and of lists and objects in the whole document. */
const MAX_DEPTH = 64;
const MAX_NESTING = 200;
/**
 * The maximum number of schemas in a document, both as written and with every reference replaced by
 * its target.
 */
const MAX_SCHEMAS = 2_000;
const MAX_EXPANDED = 10_000;
/** The maximum total length of regular expressions in a schema, in characters. */
const MAX_PATTERN_TEXT = 5_000;

/** The cost of validating values with a schema. */
export interface SchemaSize {
  /** The number of schemas, with every reference replaced by its target. */
  readonly expanded: number;
  /**
   * Without regular expressions and recursion, validation takes at most `expanded` steps for each
   * part of a value.
   */
  readonly isPredictable: boolean;
}

/**
 * Measures a third-party JSON Schema. Throws an Error with the reason if parsing it, or validating
 * with it, could take forever: it is too large or too deep, its references multiply, or one of its
 * regular expressions is ambiguous (`findPatternRisk`). A schema that passes can still be slow with
 * a large value.
 */
export function measureSchema(schema: JsonSchema): SchemaSize {
  assertShallowSchema(schema);
  const { length } = JSON.stringify(schema);
  if (length > MAX_LENGTH) {
    throw new Error(
      `at most ${MAX_LENGTH.toLocaleString('en-US')} characters are allowed; it has ${length.toLocaleString('en-US')}`,
    );
  }
  const found: SchemaFindings = { schemas: 0, patterns: new Set(), isRecursive: false };
  countSchemas(schema, found, 0);
  assertSafePatterns(found.patterns);
  const expanded = computeExpandedSize(schema, {
    root: schema,
    sizes: new Map(),
    open: new Set(),
    found,
  });
  return { expanded, isPredictable: found.patterns.size === 0 && !found.isRecursive };
}

/** The traversal does not use recursion, because it checks the depth. */
function assertShallowSchema(schema: unknown): void {
  const open = [{ value: schema, depth: 0 }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, depth } = next;
    if (typeof value !== 'object' || value === null) continue;
    if (depth > MAX_NESTING) throw new Error(`it is nested more than ${MAX_NESTING} deep`);
    for (const child of Object.values(value)) open.push({ value: child, depth: depth + 1 });
  }
}

interface SchemaFindings {
  schemas: number;
  readonly patterns: Set<string>;
  isRecursive: boolean;
}

interface SchemaMeasure {
  readonly root: JsonSchema;
  /** The expanded size of each definition, by reference. */
  readonly sizes: Map<string, number>;
  /** The references being followed, to the same value and to parts of it. */
  readonly open: Set<string>;
  readonly found: SchemaFindings;
}

function countSchemas(schema: JsonSchema, found: SchemaFindings, depth: number): void {
  if (depth > MAX_DEPTH) throw new Error(`it is nested more than ${MAX_DEPTH} deep`);
  found.schemas += 1;
  if (found.schemas > MAX_SCHEMAS) {
    throw new Error(`it contains more than ${MAX_SCHEMAS.toLocaleString('en-US')} schemas`);
  }
  const { type, $ref, pattern, patternProperties } = schema;
  // Each type in a list becomes a schema of its own, and each repetition would double the schemas
  // inside.
  if (Array.isArray(type) && new Set(type).size !== type.length) {
    throw new Error('one of its lists of types names a type twice');
  }
  if ($ref !== undefined) assertSupportedReference($ref);
  if (typeof pattern === 'string') found.patterns.add(pattern);
  for (const name of Object.keys(toSchemaOrNull(patternProperties) ?? {})) found.patterns.add(name);
  for (const { child } of listChildSchemas(schema)) countSchemas(child, found, depth + 1);
}

/**
 * The validator follows no other paths, and several spellings of one reference would be checked
 * several times.
 */
function assertSupportedReference(reference: unknown): void {
  if (typeof reference === 'string' && /^#(?:\/(?:\$defs|definitions)\/[^/]+)?$/.test(reference)) {
    return;
  }
  throw new Error(
    `its reference ${JSON.stringify(reference).slice(0, 100)} is neither # nor of the form #/$defs/NAME`,
  );
}

function assertSafePatterns(patterns: ReadonlySet<string>): void {
  const length = [...patterns].reduce((sum, pattern) => sum + pattern.length, 0);
  if (length > MAX_PATTERN_TEXT) {
    throw new Error(
      `its regular expressions have more than ${MAX_PATTERN_TEXT.toLocaleString('en-US')} characters`,
    );
  }
  for (const pattern of patterns) {
    const risk = findPatternRisk(pattern);
    if (risk !== null) {
      throw new Error(`its regular expression ${JSON.stringify(pattern).slice(0, 100)}: ${risk}`);
    }
  }
}

/**
 * A reference to an enclosing schema counts once, because validation then goes as deep as the
 * value. Such a reference must apply to a part of the value, because otherwise validation would
 * never end.
 */
function computeExpandedSize(schema: JsonSchema, measure: SchemaMeasure): number {
  let size = 1;
  const reference = schema.$ref;
  if (typeof reference === 'string') size += computeReferenceSize(reference, measure);
  for (const { child, keyword } of listChildSchemas(schema)) {
    if (DEFINITIONS.has(keyword)) continue;
    size += SAME_VALUE.has(keyword)
      ? computeExpandedSize(child, measure)
      : computeExpandedSize(child, { ...measure, open: enterValue(measure.open) });
  }
  if (size > MAX_EXPANDED) {
    throw new Error(
      `it contains more than ${MAX_EXPANDED.toLocaleString('en-US')} schemas once its references are followed`,
    );
  }
  return size;
}

const INSIDE = ' inside';

/** Returns the open references as seen from a part of the value. */
function enterValue(open: ReadonlySet<string>): Set<string> {
  return new Set([...open].map((one) => (one.endsWith(INSIDE) ? one : `${one}${INSIDE}`)));
}

function computeReferenceSize(reference: string, measure: SchemaMeasure): number {
  const { root, sizes, open } = measure;
  const known = sizes.get(reference);
  if (known !== undefined) return known;
  if (open.has(reference)) {
    throw new Error(`its reference ${reference} leads back to itself for the same value`);
  }
  if (open.has(`${reference}${INSIDE}`)) {
    measure.found.isRecursive = true;
    return 1;
  }
  const target = findDefinition(reference, root);
  if (target === null) throw new Error(`its reference ${reference} leads nowhere`);
  const size = computeExpandedSize(target, { ...measure, open: new Set([...open, reference]) });
  sizes.set(reference, size);
  return size;
}

function findDefinition(reference: string, root: JsonSchema): JsonSchema | null {
  const [, folder, name] = reference.split('/');
  if (folder === undefined || name === undefined) return root;
  const definitions = toSchemaOrNull(root[folder]) ?? {};
  const key = name.replaceAll('~1', '/').replaceAll('~0', '~');
  const found = Object.hasOwn(definitions, key) ? definitions[key] : undefined;
  return typeof found === 'boolean' ? {} : toSchemaOrNull(found);
}

interface SchemaChild {
  readonly keyword: string;
  readonly child: JsonSchema;
}

function listChildSchemas(schema: JsonSchema): readonly SchemaChild[] {
  return Object.entries(schema).flatMap(([keyword, value]) => {
    const isList = SCHEMA_LISTS.has(keyword) || (keyword === 'items' && Array.isArray(value));
    const isNamed = SCHEMAS_BY_NAME.has(keyword) && typeof value === 'object' && value !== null;
    const values =
      isList && Array.isArray(value)
        ? value
        : isNamed
          ? Object.values(value)
          : SCHEMAS.has(keyword)
            ? [value]
            : [];
    return values.flatMap((one: unknown) => {
      const child = toSchemaOrNull(one);
      return child === null ? [] : [{ keyword, child }];
    });
  });
}

function toSchemaOrNull(value: unknown): JsonSchema | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
}
