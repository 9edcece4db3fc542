import { z } from 'zod';

/** Control characters, halves of characters, and all that is invisible. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}]/gu;
/** The same without what joins letters and emoji: results are not prompt text. */
const HIDDEN = /[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/gu;

/**
 * Words of a server for the prompt: one line, nothing invisible, nothing that looks like a tag, at
 * most `limit` characters.
 */
export function cleanLine(text: string, limit: number): string {
  const line = text
    .replace(/[\s\u0085]+/gu, ' ')
    .replace(UNSEEN, '')
    .replaceAll('<', '‹')
    .replaceAll('>', '›')
    .trim();
  return startOf(line, limit);
}

/** Text of a result: its lines stay, invisible characters go. */
export function cleanLines(text: string): string {
  return text
    .replace(/\r\n?|[\u0085\u2028\u2029]/gu, '\n')
    .replace(HIDDEN, (character) => (character === '\n' || character === '\t' ? character : ''));
}

/** The start of a text with a sign where something is missing; no character is split. */
function startOf(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const start = text.slice(0, limit - 1);
  return `${/[\ud800-\udbff]$/.test(start) ? start.slice(0, -1) : start}…`;
}

/** A JSON Schema that Parley has written itself, from what a server said. */
export type CleanSchema = Readonly<Record<string, unknown>>;

/** Bounds of one schema. */
const DEEPEST = 10;
const MOST_NODES = 400;
const MOST_CHARACTERS = 16_000;
const MOST_CHOICES = 200;
const LONGEST_WORDS = 500;

/** What every provider takes for the name of a property. */
const PROPERTY = /^[\w.-]{1,64}$/;
const NEVER = new Set(['__proto__', 'constructor', 'prototype']);

const Block = z.record(z.string(), z.unknown());
type Block = z.infer<typeof Block>;
const TYPES = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'] as const;
const Type = z.enum(TYPES);
const Plain = z.union([z.string().max(200), z.number(), z.boolean(), z.null()]);

const NUMBERS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'] as const;
const COUNTS = ['minLength', 'maxLength', 'minItems', 'maxItems'] as const;

/** The state of the cleaning of one schema. */
interface Cleaning {
  readonly root: Block;
  nodes: number;
}

/**
 * The schema of a tool's arguments, rebuilt from the few known keywords: bounded in depth
 * and size, references filled in, regular expressions left out (they could take for ever). Throws an
 * Error that says what is wrong when it is not that of an object, or too large.
 */
export function cleanSchema(said: unknown): CleanSchema {
  const root = Block.safeParse(said).data;
  if (root === undefined || (root.type !== undefined && root.type !== 'object')) {
    throw new Error('its arguments are not described as an object');
  }
  const cleaning = { root, nodes: 0 };
  const cleaned = { ...cleanNode(root, cleaning, 0, []), type: 'object' };
  if (JSON.stringify(cleaned).length > MOST_CHARACTERS) throw tooLarge();
  return cleaned;
}

function tooLarge(): Error {
  return new Error('the description of its arguments is too large');
}

function cleanNode(said: unknown, at: Cleaning, depth: number, within: readonly string[]): Block {
  at.nodes += 1;
  if (at.nodes > MOST_NODES) throw tooLarge();
  const node = Block.safeParse(said).data;
  // What is too deep, and `true`, is anything.
  if (node === undefined || depth > DEEPEST) return {};
  const reference = z.string().safeParse(node.$ref).data;
  if (reference !== undefined) {
    // A definition that holds itself is followed once; below, it may be anything.
    if (within.includes(reference)) return {};
    return cleanNode(definition(reference, at.root), at, depth + 1, [...within, reference]);
  }
  const below = (child: unknown) => cleanNode(child, at, depth + 1, within);
  return { ...words(node), ...values(node), ...bounds(node), ...children(node, below) };
}

function definition(reference: string, root: Block): unknown {
  const [, folder = '', name = ''] = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(reference) ?? [];
  return Block.safeParse(root[folder]).data?.[name];
}

function words(node: Block): Block {
  const description = z.string().safeParse(node.description).data ?? '';
  const format = /^[a-z-]{1,20}$/.exec(String(node.format ?? ''))?.[0];
  const said = [description, format === undefined ? '' : `(${format})`].join(' ');
  const line = cleanLine(said, LONGEST_WORDS);
  return line === '' ? {} : { description: line };
}

function values(node: Block): Block {
  const types = z.array(Type).nonempty().safeParse(node.type).data;
  // A repeated type would double everything inside when the check is made.
  const type = types === undefined ? Type.safeParse(node.type).data : [...new Set(types)];
  const choices = z.array(Plain).nonempty().max(MOST_CHOICES).safeParse(node.enum).data;
  const only = Plain.safeParse(node.const).data;
  const usual = Plain.safeParse(node.default).data;
  return {
    ...(type !== undefined && { type }),
    ...(choices !== undefined && { enum: [...new Set(choices)] }),
    ...(only !== undefined && { const: only }),
    ...(usual !== undefined && { default: usual }),
  };
}

function bounds(node: Block): Block {
  const number = (name: string) => z.number().safeParse(node[name]).data;
  const count = (name: string) => z.int().min(0).safeParse(node[name]).data;
  const found = [
    ...NUMBERS.map((name) => [name, number(name)] as const),
    ...COUNTS.map((name) => [name, count(name)] as const),
  ];
  return Object.fromEntries(found.filter(([, value]) => value !== undefined));
}

type Below = (child: unknown) => Block;

function children(node: Block, below: Below): Block {
  const { items, additionalProperties: more } = node;
  const anyOf = list(node.anyOf ?? node.oneOf, below);
  const allOf = list(node.allOf, below);
  return {
    ...properties(node, below),
    ...(items !== undefined && { items: Array.isArray(items) ? {} : below(items) }),
    ...(more !== undefined && { additionalProperties: more === false ? false : below(more) }),
    ...(anyOf.length > 0 && { anyOf }),
    ...(allOf.length > 0 && { allOf }),
  };
}

function list(said: unknown, below: Below): readonly Block[] {
  return Array.isArray(said) ? said.map(below) : [];
}

/** An odd name is left out; where the tool cannot do without it, it cannot be called at all. */
function properties(node: Block, below: Below): Block {
  const all = Block.safeParse(node.properties).data;
  if (all === undefined) return {};
  const needed = z.array(z.string()).safeParse(node.required).data ?? [];
  const isFine = (name: string) => PROPERTY.test(name) && !NEVER.has(name);
  const odd = needed.find((name) => !isFine(name));
  if (odd !== undefined) throw new Error('an argument that it needs has a name no model can use');
  const fine = Object.entries(all).filter(([name]) => isFine(name));
  const required = [...new Set(needed)].filter((name) => Object.hasOwn(all, name));
  return {
    properties: Object.fromEntries(fine.map(([name, child]) => [name, below(child)])),
    ...(required.length > 0 && { required }),
  };
}
