import { z } from 'zod';

/** The limits of a number; `above` excludes the limit itself. */
interface NumberBounds {
  readonly min?: number;
  readonly above?: number;
  readonly max?: number;
  readonly default: number;
}

function defineBoundedField<T extends z.ZodNumber>(
  schema: T,
  { min, above, max, default: value }: NumberBounds,
  description: string,
) {
  let field: z.ZodNumber = schema;
  if (above !== undefined) field = field.gt(above);
  if (min !== undefined) field = field.min(min);
  if (max !== undefined) field = field.max(max);
  return field.default(value).describe(description);
}

export const wholeNumber = (bounds: NumberBounds, description: string) =>
  defineBoundedField(z.int(), bounds, description);

export const numberField = (bounds: NumberBounds, description: string) =>
  defineBoundedField(z.number(), bounds, description);

export const flag = (standard: boolean, description: string) =>
  z.boolean().default(standard).describe(description);

/** Defines a setting with one of the given values; the first value is the default. */
export function defineChoice<const T extends readonly [string, ...string[]]>(
  values: T,
  description: string,
) {
  return z.enum(values).default(values[0]).describe(description);
}

/** A person, written as the channel and the platform's user id, such as `telegram:123`. */
export const Person = z
  .string({ error: 'channel:userId without a space, such as telegram:123456789' })
  .regex(/^[a-z][a-z0-9-]*:\S+$/, 'channel:userId, such as telegram:123456789');

/**
 * Defines a block of settings in which every setting has a default, so that the whole block may be
 * omitted.
 */
export function defineSection<T extends z.core.$ZodShape>(description: string, shape: T) {
  return z
    .strictObject(shape)
    .prefault({} as never) // The type does not express that every key has a default.
    .describe(description);
}
