/** What every provider takes for the name of a property. */
const FINE = /^[\w.-]{1,64}$/;
const NEVER = new Set(['__proto__', 'constructor', 'prototype']);
const MAX_CHARACTERS = 50;

/** Names under which a model is shown the properties of one schema. */
export interface PropertyNames {
  /** The name for the model; null where this property cannot be offered. */
  offer(original: string, siblings: readonly string[]): string | null;
  /** The original names of those that are shown under another. */
  readonly renamed: Readonly<Record<string, string>>;
}

/** Renames what no provider takes, such as `$filter` and `filter[name]`. No two names become the same. */
export function createPropertyNames(): PropertyNames {
  const renamed: Record<string, string> = {};
  return {
    renamed,
    offer(original, siblings) {
      if (NEVER.has(original)) return null;
      if (FINE.test(original)) return original;
      const plain = original.replace(/[^\w.-]+/g, '_').replace(/^_+|_+$/g, '');
      const start = plain.slice(0, MAX_CHARACTERS) || 'field';
      const isFree = (name: string) =>
        !siblings.includes(name) &&
        !NEVER.has(name) &&
        (!Object.hasOwn(renamed, name) || renamed[name] === original);
      let name = start;
      for (let nth = 2; !isFree(name); nth += 1) name = `${start}_${nth}`;
      renamed[name] = original;
      return name;
    },
  };
}
