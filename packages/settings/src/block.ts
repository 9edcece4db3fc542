/** A YAML mapping as a plain object. */
export type Block = Readonly<Record<string, unknown>>;

/** True for a mapping; lists and single values are none. */
export function isBlock(value: unknown): value is Block {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
