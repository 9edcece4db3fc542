import { z } from 'zod';

const Block = z.record(z.string(), z.unknown());

/** An object of JSON, of which nothing else is known. */
export type Block = z.infer<typeof Block>;

/** The object, or undefined where it is none. An empty list counts as an empty object, as PHP writes it. */
export function blockOf(value: unknown): Block | undefined {
  if (Array.isArray(value)) return value.length === 0 ? {} : undefined;
  return Block.safeParse(value).data;
}

/** The value of the object's own key; never one that it inherits. */
export function ownValue(block: Block, key: string): unknown {
  return Object.hasOwn(block, key) ? block[key] : undefined;
}

/** The texts of a list; a single text is a list of one, and all else is passed over. */
export function toTexts(value: unknown): readonly string[] {
  const all = Array.isArray(value) ? value : [value];
  return all.filter((one): one is string => typeof one === 'string');
}
