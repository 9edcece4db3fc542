import { StoreError } from './store-error.ts';

/** A value as JSON text. Text, because the two databases agree on nothing richer. */
export function toJson(value: unknown): string {
  return JSON.stringify(value) ?? 'null';
}

/** JSON text as the value it was written from; for content whose shape others own. */
export function fromJson(text: string): unknown {
  return JSON.parse(text);
}

/**
 * JSON text as a checked value. Throws StoreError `store-damaged`, naming `what`, when it is not
 * what this version writes.
 */
export function fromCheckedJson<T>(
  schema: { parse(value: unknown): T },
  text: string,
  what: string,
): T {
  try {
    return schema.parse(JSON.parse(text));
  } catch (reason) {
    const advice =
      'Restore the database from a backup, or report this if it was not edited by hand.';
    throw new StoreError('store-damaged', `The stored ${what} cannot be read. ${advice}`, reason);
  }
}
