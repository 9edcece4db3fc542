import { blockOf, ownValue } from './json-block.ts';
import type { ArgumentShape } from './offer-schema.ts';

/** The arguments of a call. */
export type Arguments = Readonly<Record<string, unknown>>;

/** Objects in objects whose names are given back; deeper ones are the model's own. */
const DEEPEST = 20;

/** The arguments as the server takes them, made from those of a model. */
export function serverArguments(
  { wrappedIn, renamed }: ArgumentShape,
  given: Arguments,
): Arguments {
  const inner = wrappedIn === undefined ? undefined : blockOf(ownValue({ ...given }, wrappedIn));
  const own = inner ?? given;
  return renamed === undefined ? own : withOriginalNames(own, renamed, 0);
}

function withOriginalNames(
  given: Arguments,
  renamed: Readonly<Record<string, string>>,
  depth: number,
): Arguments {
  const originalOf = (name: string) => (Object.hasOwn(renamed, name) ? renamed[name] : name);
  const below = (value: unknown): unknown => {
    if (depth >= DEEPEST || typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map(below);
    return withOriginalNames({ ...value }, renamed, depth + 1);
  };
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => [originalOf(name) ?? name, below(value)]),
  );
}
