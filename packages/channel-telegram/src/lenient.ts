import { z } from 'zod';

/** A field that is dropped when it is invalid, without affecting the object it belongs to. */
export function toLenientField<T extends z.ZodType>(schema: T) {
  return schema.optional().catch(undefined);
}

/** A list from which invalid items are dropped; empty if the value is not a list. */
export function toLenientList<T extends z.ZodType>(schema: T) {
  return z
    .array(z.unknown())
    .catch([])
    .transform((items) =>
      items.flatMap((item): z.output<T>[] => {
        const parsed = schema.safeParse(item);
        return parsed.success ? [parsed.data] : [];
      }),
    );
}

/** The names of the fields that parsing dropped. */
export function listDroppedFields(sent: unknown, parsed: object): readonly string[] {
  if (typeof sent !== 'object' || sent === null) return [];
  return Object.entries(sent)
    .filter(([name, value]) => value !== undefined && name in parsed)
    .filter(([name]) => Reflect.get(parsed, name) === undefined)
    .map(([name]) => name);
}
