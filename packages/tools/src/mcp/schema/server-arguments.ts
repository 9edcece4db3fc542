import { blockOf, ownValue } from './json-block.ts';
import type { ArgumentShape } from './offer-schema.ts';
import type { Renames } from './property-names.ts';

/** The arguments of a call. */
export type Arguments = Readonly<Record<string, unknown>>;

/** Converts the model's arguments to the arguments that the server expects. */
export function serverArguments(
  { wrappedIn, renamed }: ArgumentShape,
  given: Arguments,
): Arguments {
  const inner = wrappedIn === undefined ? undefined : blockOf(ownValue({ ...given }, wrappedIn));
  const own = inner ?? given;
  return renamed === undefined ? own : withOriginalNames(own, renamed);
}

/** Descends only as far as the schema describes; names below that are the model's own. */
function withOriginalNames(
  given: Arguments,
  { originals, properties, others }: Renames,
): Arguments {
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => {
      const below = properties.get(name) ?? others;
      return [originals.get(name) ?? name, valueWithNames(value, below)];
    }),
  );
}

function valueWithNames(value: unknown, renamed: Renames | undefined): unknown {
  if (renamed === undefined || typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((one) => valueWithNames(one, renamed.items));
  return withOriginalNames({ ...value }, renamed);
}
