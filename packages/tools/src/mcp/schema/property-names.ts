import { type Block, toBlock } from './json-block.ts';

/** Property names that every provider accepts. */
const FINE = /^[\w.-]{1,64}$/;
const NEVER = new Set(['__proto__', 'constructor', 'prototype']);
const MAX_CHARACTERS = 50;

/**
 * Names that every object inherits; validation would find them although the model did not send
 * them.
 */
const isInherited = (name: string): boolean => name in Object.prototype;

/** The renamed properties, for conversion between the model's and the server's names. */
export interface PropertyRenames {
  /** The server's names, keyed by the model's names. */
  readonly originals: ReadonlyMap<string, string>;
  /**
   * The renames inside each described property. Names that are not in the schema come from the
   * model and are not changed.
   */
  readonly properties: ReadonlyMap<string, PropertyRenames>;
  /** The renames inside properties whose names the schema does not list. */
  readonly others?: PropertyRenames | undefined;
  /** The renames inside the items of a list. */
  readonly items?: PropertyRenames | undefined;
}

/** Assigns the model's names for the properties of one object and everything below it. */
export interface PropertyNames extends PropertyRenames {
  /** Returns the name for the model, or null when the property cannot be offered. */
  offer(original: string, siblings: readonly string[]): string | null;
  /** The names inside a property, given by its name for the model. */
  below(name: string): PropertyNames;
  belowOthers(): PropertyNames;
  belowItems(): PropertyNames;
  /** Whether a property was renamed at this level or below. */
  isRenamed(): boolean;
}

/**
 * Renames properties that providers refuse, such as `$filter` and `filter[name]`. The names within
 * an object stay distinct.
 */
export function createPropertyNames(taken: ReadonlySet<string>): PropertyNames {
  const originals = new Map<string, string>();
  const properties = new Map<string, PropertyNames>();
  let others: PropertyNames | undefined;
  let items: PropertyNames | undefined;
  return {
    originals,
    properties,
    get others() {
      return others;
    },
    get items() {
      return items;
    },
    offer(original, siblings) {
      if (NEVER.has(original)) return null;
      if (FINE.test(original) && !isInherited(original)) return original;
      const plain = original.replace(/[^\w.-]+/g, '_').replace(/^_+|_+$/g, '');
      const start = plain.slice(0, MAX_CHARACTERS) || 'field';
      const isFree = (name: string) =>
        !siblings.includes(name) &&
        !taken.has(name) &&
        !NEVER.has(name) &&
        !isInherited(name) &&
        (originals.get(name) ?? original) === original;
      let name = start;
      for (let nth = 2; !isFree(name); nth += 1) name = `${start}_${nth}`;
      originals.set(name, original);
      return name;
    },
    below(name) {
      const known = properties.get(name) ?? createPropertyNames(taken);
      properties.set(name, known);
      return known;
    },
    belowOthers() {
      others ??= createPropertyNames(taken);
      return others;
    },
    belowItems() {
      items ??= createPropertyNames(taken);
      return items;
    },
    isRenamed() {
      const inside = [...properties.values(), others, items];
      return originals.size > 0 || inside.some((one) => one?.isRenamed() === true);
    },
  };
}

/** The most parts of a schema that are searched for names. */
const MAX_SEARCHED = 10_000;

/**
 * All property names that a schema describes anywhere. New names avoid all these names, because the
 * alternatives of one object share their names.
 */
export function listDescribedNames(root: Block): ReadonlySet<string> {
  const names = new Set<string>();
  const open: unknown[] = [root];
  for (let searched = 0; open.length > 0 && searched < MAX_SEARCHED; searched += 1) {
    const one = open.pop();
    if (Array.isArray(one)) open.push(...one.slice(0, MAX_SEARCHED));
    const block = Array.isArray(one) ? undefined : toBlock(one);
    if (block === undefined) continue;
    for (const name of Object.keys(toBlock(block.properties) ?? {})) names.add(name);
    open.push(...Object.values(block));
  }
  return names;
}
