import { type Block, blockOf } from './json-block.ts';

/** The property names that every provider takes. */
const FINE = /^[\w.-]{1,64}$/;
const NEVER = new Set(['__proto__', 'constructor', 'prototype']);
const MAX_CHARACTERS = 50;

/** Every object has something of that name: a check would find it where the model gave nothing. */
const isInherited = (name: string): boolean => name in Object.prototype;

/** The places in the arguments where a model knows a property under another name than the server. */
export interface Renames {
  /** The server's names, by those that the model knows. */
  readonly originals: ReadonlyMap<string, string>;
  /** The renames below each described property. A name that is not described is the model's own, and stays. */
  readonly properties: ReadonlyMap<string, Renames>;
  /** The renames below the values of all properties that are not described. */
  readonly others?: Renames | undefined;
  /** The renames below the parts of a list. */
  readonly items?: Renames | undefined;
}

/** The names under which a model is shown the properties of one object, and those below it. */
export interface PropertyNames extends Renames {
  /** The name for the model; null where this property cannot be offered. */
  offer(original: string, siblings: readonly string[]): string | null;
  /** The names below a property, under its name for the model. */
  below(name: string): PropertyNames;
  belowOthers(): PropertyNames;
  belowItems(): PropertyNames;
  /** Whether anything here or below has another name. */
  isRenamed(): boolean;
}

/** Renames what no provider takes, such as `$filter` and `filter[name]`. No two names of an object become the same. */
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

/** Parts of a schema that are searched for names. */
const MAX_SEARCHED = 10_000;

/**
 * The names of all properties that a schema describes anywhere. A name for the model is none of them: alternatives of
 * one object share their names.
 */
export function namesDescribed(root: Block): ReadonlySet<string> {
  const names = new Set<string>();
  const open: unknown[] = [root];
  for (let searched = 0; open.length > 0 && searched < MAX_SEARCHED; searched += 1) {
    const one = open.pop();
    if (Array.isArray(one)) open.push(...one.slice(0, MAX_SEARCHED));
    const block = Array.isArray(one) ? undefined : blockOf(one);
    if (block === undefined) continue;
    for (const name of Object.keys(blockOf(block.properties) ?? {})) names.add(name);
    open.push(...Object.values(block));
  }
  return names;
}
