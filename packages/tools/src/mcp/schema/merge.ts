import { type Block, toBlock, toStrings } from './json-block.ts';
import { type ResolvedSchema, resolveSchema } from './references.ts';

/** The deepest nesting of `allOf` that is merged. */
const DEEPEST = 8;
const MAX_PARTS = 50;

/**
 * Merges everything that `allOf` adds into the schema: providers refuse the keyword at the root,
 * and models understand one description better than several.
 */
export function mergeAllOf(said: unknown, root: Block, within: readonly string[]): ResolvedSchema {
  const parts: Block[] = [];
  const all = new Set(within);
  const collect = (one: unknown, depth: number, seen: readonly string[]): void => {
    const resolved = resolveSchema(one, root, seen);
    for (const reference of resolved.within) all.add(reference);
    const { allOf, ...own } = resolved.node;
    parts.push(own);
    if (!Array.isArray(allOf) || depth >= DEEPEST) return;
    for (const part of allOf) {
      if (parts.length < MAX_PARTS) collect(part, depth + 1, resolved.within);
    }
  };
  collect(said, 0, within);
  const [first = {}, ...others] = parts;
  return { node: others.reduce(mergeSchemas, first), within: [...all] };
}

function mergeSchemas(one: Block, other: Block): Block {
  const merged: Block = { ...other, ...one };
  const [properties, more] = [toBlock(one.properties), toBlock(other.properties)];
  if (properties !== undefined && more !== undefined) {
    const both = { ...more, ...properties };
    for (const name of Object.keys(properties)) {
      if (Object.hasOwn(more, name)) both[name] = { allOf: [properties[name], more[name]] };
    }
    merged.properties = both;
  }
  const required = [...toStrings(one.required), ...toStrings(other.required)];
  if (required.length > 0) merged.required = [...new Set(required)];
  // Each part forbids the properties of the others, so only the server can decide what remains
  // allowed.
  if (more !== undefined) delete merged.additionalProperties;
  return merged;
}
