import { z } from 'zod';
import type { Block } from './json-block.ts';

const TYPES = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'] as const;
export type JsonType = (typeof TYPES)[number];
const Type = z.enum(TYPES);

/** Type names written by generators for Python, Protobuf and TypeScript. */
const OTHER_NAMES: Readonly<Record<string, JsonType>> = {
  str: 'string',
  text: 'string',
  int: 'integer',
  int32: 'integer',
  int64: 'integer',
  long: 'integer',
  float: 'number',
  double: 'number',
  decimal: 'number',
  bool: 'boolean',
  dict: 'object',
  map: 'object',
  record: 'object',
  list: 'array',
  tuple: 'array',
  none: 'null',
  nonetype: 'null',
};

/** Keywords that make sense for one type only, for schemas that do not state a type. */
const TELLING: readonly (readonly [JsonType, readonly string[]])[] = [
  ['object', ['properties', 'required', 'additionalProperties', 'patternProperties']],
  ['array', ['items', 'prefixItems', 'minItems', 'maxItems', 'uniqueItems', 'contains']],
  ['string', ['minLength', 'maxLength', 'pattern', 'format']],
  ['number', ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']],
];

/** The type with this name in any case; undefined for unknown names such as `any`. */
export function findType(name: unknown): JsonType | undefined {
  if (typeof name !== 'string') return undefined;
  const plain = name.toLowerCase();
  return (
    Type.safeParse(plain).data ??
    (Object.hasOwn(OTHER_NAMES, plain) ? OTHER_NAMES[plain] : undefined)
  );
}

/** The distinct types that a schema allows; undefined when it allows all. */
export function listTypes(node: Block): readonly JsonType[] | undefined {
  const named = Array.isArray(node.type) ? node.type : [node.type];
  const known = named.flatMap((name) => findType(name) ?? []);
  // If one of the names is unknown, such as `any`, the known names do not restrict the value.
  const isWhole = known.length > 0 && known.length === named.length;
  const types = isWhole ? known : inferTypes(node);
  if (types === undefined) return undefined;
  return [...new Set(node.nullable === true ? [...types, 'null' as const] : types)];
}

function inferTypes(node: Block): readonly JsonType[] | undefined {
  if ('enum' in node || 'const' in node) return undefined;
  if ('anyOf' in node || 'oneOf' in node) return 'properties' in node ? ['object'] : undefined;
  const found = TELLING.find(([, keywords]) => keywords.some((keyword) => keyword in node));
  return found === undefined ? undefined : [found[0]];
}
