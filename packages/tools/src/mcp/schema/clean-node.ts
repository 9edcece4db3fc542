import { z } from 'zod';
import { toCleanLine } from '../clean.ts';
import { type Block, getOwnValue, toBlock, toStrings } from './json-block.ts';
import { mergeAllOf } from './merge.ts';
import type { PropertyNames } from './property-names.ts';
import { findType, type JsonType, listTypes } from './types.ts';

export interface CleaningState {
  readonly root: Block;
  /** Parts below this depth are described only by their type. */
  readonly deepest: number;
  nodes: number;
}

const MAX_NODES = 400;
const MAX_CHOICES = 200;
/** How many choices are listed when there are too many to validate. */
const SHOWN_CHOICES = 10;
/** The maximum length of a description, in characters. */
const MAX_WORDS = 500;

/** Thrown when a schema has too many parts. */
export class SchemaTooLargeError extends Error {}

const PlainChoice = z.union([z.string().max(200), z.number(), z.boolean(), z.null()]);
type PlainChoice = z.infer<typeof PlainChoice>;

/** The position of a part in a schema. */
export interface SchemaPosition {
  readonly depth: number;
  /** The references that led to this part. */
  readonly within: readonly string[];
  readonly names: PropertyNames;
}

/** Rebuilds a schema of any draft from the few keywords accepted by every provider. */
export function cleanNode(
  said: unknown,
  at: CleaningState,
  { depth, within, names }: SchemaPosition,
): Block {
  at.nodes += 1;
  if (at.nodes > MAX_NODES) throw new SchemaTooLargeError();
  // `true` allows any value. Some servers write only the name of a type.
  const shorthand = findType(said);
  const merged = mergeAllOf(shorthand === undefined ? said : { type: shorthand }, at.root, within);
  const { node } = merged;
  const below = (child: unknown, namesThere: PropertyNames) =>
    cleanNode(child, at, { depth: depth + 1, within: merged.within, names: namesThere });
  const types = listTypes(node);
  const choices = listPlainChoices(node);
  const own = {
    ...describeNode(node, choices),
    ...(types !== undefined && { type: types.length === 1 ? types[0] : types }),
    ...copyValueRules(node, choices),
    ...copyBounds(node),
  };
  // Parts at the deepest level show only their type.
  if (depth >= at.deepest) return { ...own, ...cleanItems({}, types, names, below) };
  return {
    ...own,
    ...(canBeObject(types) && cleanProperties(node, names, below)),
    ...cleanItems(node, types, names, below),
    ...(canBeObject(types) && cleanAdditionalProperties(node, names, below)),
    ...cleanAlternatives(node, names, below),
  };
}

function canBeObject(types: readonly JsonType[] | undefined): boolean {
  return types?.includes('object') === true;
}

function describeNode(node: Block, choices: readonly PlainChoice[]): Block {
  const [said = ''] = [...toStrings(node.description), ...toStrings(node.title)];
  const format = /^[a-z-]{1,20}$/.exec(String(node.format ?? ''))?.[0];
  const many = choices.length > MAX_CHOICES;
  const some = choices.slice(0, SHOWN_CHOICES).join(', ');
  const parts = [
    said,
    format === undefined ? '' : `(${format})`,
    many ? `(one of ${choices.length} values: ${some} …)` : '',
  ];
  const line = toCleanLine(parts.join(' '), MAX_WORDS);
  return line === '' ? {} : { description: line };
}

/** Empty unless all choices are plain values; other choices can be validated only by the server. */
function listPlainChoices(node: Block): readonly PlainChoice[] {
  const all = z.array(PlainChoice).safeParse(node.enum).data ?? [];
  const withNull = node.nullable === true && all.length > 0 ? [...all, null] : all;
  return [...new Set(withNull)];
}

function copyValueRules(node: Block, choices: readonly PlainChoice[]): Block {
  const only = PlainChoice.safeParse(node.const).data;
  const usual = PlainChoice.safeParse(node.default).data;
  const isUsable = choices.length > 0 && choices.length <= MAX_CHOICES;
  return {
    ...(isUsable && { enum: choices }),
    ...(only !== undefined && { const: only }),
    ...(usual !== undefined && { default: usual }),
  };
}

const NUMBERS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'] as const;
const COUNTS = ['minLength', 'maxLength', 'minItems', 'maxItems'] as const;

function copyBounds(node: Block): Block {
  const number = (name: string) => z.number().safeParse(node[name]).data;
  const count = (name: string) => z.int().min(0).safeParse(node[name]).data;
  const found = new Map<string, number>();
  for (const name of NUMBERS) {
    const value = number(name);
    if (value !== undefined) found.set(name, value);
  }
  // In draft 4, `true` means that the bound itself is excluded.
  for (const [flag, bound] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const) {
    const value = found.get(bound);
    if (node[flag] !== true || value === undefined) continue;
    found.delete(bound);
    found.set(flag, value);
  }
  for (const name of COUNTS) {
    const value = count(name);
    if (value !== undefined) found.set(name, value);
  }
  return Object.fromEntries(found);
}

type CleanChild = (child: unknown, names: PropertyNames) => Block;

function cleanAlternatives(node: Block, names: PropertyNames, below: CleanChild): Block {
  const said = [node.anyOf, node.oneOf].find((one) => Array.isArray(one));
  if (!Array.isArray(said)) return {};
  const options = said.filter((option) => option !== false).map((option) => below(option, names));
  if (node.nullable === true) options.push({ type: 'null' });
  // Alternatives that only state which properties are required together are identical after the
  // cleanup.
  const tellsApart = options.some((option) => Object.keys(option).length > 0);
  return tellsApart ? { anyOf: options } : {};
}

/** Providers refuse an array without a schema for its items. */
function cleanItems(
  node: Block,
  types: readonly JsonType[] | undefined,
  names: PropertyNames,
  below: CleanChild,
): Block {
  if (types?.includes('array') !== true) return {};
  const isTuple = Array.isArray(node.items) || node.prefixItems !== undefined;
  return {
    items: isTuple || node.items === undefined ? {} : below(node.items, names.belowItems()),
  };
}

/** Renames properties whose names providers do not accept. */
function cleanProperties(node: Block, names: PropertyNames, below: CleanChild): Block {
  const all = listDescribedProperties(node);
  const needed = new Set([...toStrings(node.required), ...listInlineRequiredNames(all)]);
  const described = [...new Set([...Object.keys(all), ...needed])];
  const shown: [string, Block][] = [];
  const nameFor = new Map<string, string>();
  for (const original of described) {
    const said = getOwnValue(all, original);
    if (said === false) continue;
    const name = names.offer(original, described);
    if (name === null) {
      if (!needed.has(original)) continue;
      throw new Error(`it needs an argument named ${original}, which cannot be sent safely`);
    }
    shown.push([name, below(said ?? {}, names.below(name))]);
    nameFor.set(original, name);
  }
  const required = [...needed].flatMap((original) => nameFor.get(original) ?? []);
  return {
    ...(shown.length > 0 || node.properties !== undefined
      ? { properties: Object.fromEntries(shown) }
      : {}),
    ...(required.length > 0 && { required }),
  };
}

/** The properties by name; some schemas list them, each with its name inside. */
function listDescribedProperties({ properties: said }: Block): Block {
  if (!Array.isArray(said)) return toBlock(said) ?? {};
  const named = said.flatMap((one) => {
    const { name, ...property } = toBlock(one) ?? {};
    return typeof name === 'string' ? [[name, property] as const] : [];
  });
  return Object.fromEntries(named);
}

/** Draft 3 marks each required property inside its own schema. */
function listInlineRequiredNames(all: Block): readonly string[] {
  return Object.entries(all).flatMap(([name, said]) =>
    toBlock(said)?.required === true ? [name] : [],
  );
}

function cleanAdditionalProperties(node: Block, names: PropertyNames, below: CleanChild): Block {
  const { additionalProperties: more, patternProperties } = node;
  // Names that match `patternProperties` are not checked here, so other properties cannot be
  // forbidden.
  if (more === undefined || more === true || patternProperties !== undefined) return {};
  return { additionalProperties: more === false ? false : below(more, names.belowOthers()) };
}
