import { getOwnValue, toBlock } from './json-block.ts';
import type { ArgumentShape } from './offer-schema.ts';
import type { PropertyRenames } from './property-names.ts';

export type CallArguments = Readonly<Record<string, unknown>>;

/** Converts the model's arguments to the arguments that the server expects. */
export function toServerArguments(
  { wrappedIn, renamed }: ArgumentShape,
  given: CallArguments,
): CallArguments {
  const inner = wrappedIn === undefined ? undefined : toBlock(getOwnValue({ ...given }, wrappedIn));
  const own = inner ?? given;
  return renamed === undefined ? own : restoreOriginalNames(own, renamed);
}

/** Converts only the levels that the schema describes; names below them come from the model. */
function restoreOriginalNames(
  given: CallArguments,
  { originals, properties, others }: PropertyRenames,
): CallArguments {
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => {
      const below = properties.get(name) ?? others;
      return [originals.get(name) ?? name, restoreNamesInValue(value, below)];
    }),
  );
}

function restoreNamesInValue(value: unknown, renamed: PropertyRenames | undefined): unknown {
  if (renamed === undefined || typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((one) => restoreNamesInValue(one, renamed.items));
  return restoreOriginalNames({ ...value }, renamed);
}
