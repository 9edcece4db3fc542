import { z } from 'zod';

const Block = z.record(z.string(), z.unknown());

/** A JSON object of unknown content. */
export type Block = z.infer<typeof Block>;

/**
 * The value as an object, or undefined. An empty list counts as an empty object, because PHP
 * encodes it that way.
 */
export function toBlock(value: unknown): Block | undefined {
  if (Array.isArray(value)) return value.length === 0 ? {} : undefined;
  return Block.safeParse(value).data;
}

/** The value of an own key, never of an inherited one. */
export function getOwnValue(block: Block, key: string): unknown {
  return Object.hasOwn(block, key) ? block[key] : undefined;
}

/**
 * The strings in a list; a single string counts as a list of one, and everything else is ignored.
 */
export function toStrings(value: unknown): readonly string[] {
  const all = Array.isArray(value) ? value : [value];
  return all.filter((one): one is string => typeof one === 'string');
}
