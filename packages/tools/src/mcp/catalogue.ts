import { reasonOf } from '@parley/core';
import { z } from 'zod';
import { cleanLine } from './clean.ts';
import { type Block, blockOf, ownValue, toTexts } from './schema/json-block.ts';
import { type ArgumentShape, type CleanSchema, offerSchema } from './schema/offer-schema.ts';

/** A tool of a server, cleaned: nothing in it can be mistaken for text of Parley. */
export interface McpTool {
  /** As the server calls it; sent back to it and never shown. */
  readonly name: string;
  /** One line; empty when the server says nothing. */
  readonly description: string;
  /** The schema of its arguments, always an object. */
  readonly schema: CleanSchema;
  /** Maps a model's arguments to those of the server; absent when they are the same. */
  readonly shape?: ArgumentShape;
  /** Whether the server says that it changes nothing. It may lie. */
  readonly readOnly: boolean;
}

/** One argument of a prompt. */
export interface McpPromptArgument {
  readonly name: string;
  readonly required: boolean;
}

/** A prompt of a server, cleaned. */
export interface McpPrompt {
  /** As the server calls it. */
  readonly name: string;
  readonly description: string;
  readonly arguments: readonly McpPromptArgument[];
}

/** Something that a server offers and that is not used, or not completely, and why. */
export interface McpRemark {
  readonly what: string;
  readonly reason: string;
}

/** All that a server offers. */
export interface McpCatalogue {
  readonly tools: readonly McpTool[];
  readonly prompts: readonly McpPrompt[];
  /** Whether it has resources, which are listed on demand. */
  readonly hasResources: boolean;
  /** Left out. */
  readonly refused: readonly McpRemark[];
  /** Taken, but changed. */
  readonly changed: readonly McpRemark[];
}

/** The catalogue of a server that is not connected. */
export const NOTHING: McpCatalogue = {
  tools: [],
  prompts: [],
  hasResources: false,
  refused: [],
  changed: [],
};

/** The answer of a server to a request for one kind of thing. */
export interface Listed {
  readonly items: readonly unknown[];
  /** Why not all of it is here; null where it is. */
  readonly problem: string | null;
}

/** Tools and prompts of one server that are taken; a model is lost among more. */
const MAX_ENTRIES = 128;
const MAX_NAME = 200;
/**
 * The size of the schemas of all tools of a server together, in characters: making their checks takes the event loop.
 */
const MAX_SCHEMA_TEXT = 200_000;
/** The longest description, in characters. */
const MAX_DESCRIPTION = 1_000;
const MAX_PROMPT_ARGUMENTS = 20;

/** One entry as it is taken, with what was changed about it. */
interface Taken<Entry> {
  readonly entry: Entry;
  readonly remarks: readonly string[];
}

/** Reads the lists of a server, one entry at a time: an invalid one is left out by name, and no other with it. */
export function readCatalogue(tools: Listed, prompts: Listed, hasResources = false): McpCatalogue {
  const refused: McpRemark[] = [];
  const changed: McpRemark[] = [];
  const read = <Entry extends { readonly name: string }>(
    { items, problem }: Listed,
    kind: string,
    take: (said: Block) => Taken<Entry>,
  ): readonly Entry[] => {
    if (problem !== null) refused.push({ what: `its ${kind}s`, reason: problem });
    const found = new Map<string, Entry>();
    for (const [nth, said] of items.slice(0, MAX_ENTRIES).entries()) {
      const what = `${kind} ${readEntryName(said, nth)}`;
      try {
        const { entry, remarks } = take(readEntry(said));
        if (found.has(entry.name)) throw new Error('there is another of this name before it');
        found.set(entry.name, entry);
        for (const reason of remarks) changed.push({ what, reason });
      } catch (error) {
        refused.push({ what, reason: reasonOf(error) });
      }
    }
    const more = items.length - MAX_ENTRIES;
    const reason = `at most ${MAX_ENTRIES} are taken`;
    if (more > 0) refused.push({ what: `${more} more ${kind}s`, reason });
    // In an order of its own: a server that shuffles must not cost the prompt its cache.
    return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  };
  const takeWithin = withinSize();
  return {
    tools: read(tools, 'tool', (said) => takeWithin(takeTool(said))),
    prompts: read(prompts, 'prompt', takePrompt),
    hasResources,
    refused,
    changed,
  };
}

/** Refuses tools whose schemas, with those before, are more than a server may have. */
function withinSize(): (taken: Taken<McpTool>) => Taken<McpTool> {
  let size = 0;
  return (taken) => {
    const { length } = JSON.stringify(taken.entry.schema);
    if (size + length > MAX_SCHEMA_TEXT) {
      throw new Error('the descriptions of all arguments of this server are too large together');
    }
    size += length;
    return taken;
  };
}

function readEntry(said: unknown): Block {
  const entry = Array.isArray(said) ? undefined : blockOf(said);
  if (entry === undefined) throw new Error('it is not a JSON object');
  // Tools as they are sent to the API of a model are one level deeper.
  const inside = entry.name === undefined ? blockOf(entry.function) : undefined;
  return inside ?? entry;
}

function readEntryName(said: unknown, nth: number): string {
  const entry = blockOf(said) ?? {};
  const name = ownValue(entry, 'name') ?? blockOf(entry.function)?.name;
  if (typeof name === 'string' && name.trim() !== '') return cleanLine(name, 80);
  return `number ${nth + 1}, without a name`;
}

function takeName({ name }: Block): string {
  if (typeof name !== 'string' || name.trim() === '') {
    throw new Error('it has no name, or one that is not a text');
  }
  if (name.length > MAX_NAME) {
    throw new Error(`its name has ${name.length} characters; at most ${MAX_NAME} are taken`);
  }
  return name;
}

function takeTool(said: Block): Taken<McpTool> {
  const name = takeName(said);
  const { schema, shape, remark } = offerSchema(schemaIn(said));
  assertCheckable(schema);
  const { readOnlyHint } = blockOf(said.annotations) ?? {};
  // Only the protocol's own word counts: a call without a question must not hang on a guess.
  const readOnly = readOnlyHint === true;
  const differs = Object.keys(shape).length > 0;
  const entry = {
    name,
    description: descriptionOf(said),
    schema,
    ...(differs && { shape }),
    readOnly,
  };
  return { entry, remarks: remark === null ? [] : [remark] };
}

/** Servers that pass on the tools of a model's API keep its word for the schema. */
function schemaIn(said: Block): unknown {
  const [found] = ['inputSchema', 'input_schema', 'parameters'].flatMap((key) =>
    (ownValue(said, key) ?? null) === null ? [] : [said[key]],
  );
  return found;
}

function assertCheckable(schema: CleanSchema): void {
  try {
    z.fromJSONSchema({ ...schema });
  } catch (error) {
    throw new Error(`its arguments cannot be checked: ${reasonOf(error)}`);
  }
}

/** The description, or the title where there is none; paragraphs may come as a list. */
function descriptionOf(said: Block): string {
  const { annotations, description, title } = said;
  const words = toTexts(description).join(' ').trim();
  const titles = [...toTexts(title), ...toTexts(blockOf(annotations)?.title)];
  return cleanLine(words === '' ? (titles[0] ?? '') : words, MAX_DESCRIPTION);
}

function takePrompt(said: Block): Taken<McpPrompt> {
  const name = takeName(said);
  const all = argumentsOf(said.arguments);
  const fine: McpPromptArgument[] = [];
  const remarks: string[] = [];
  for (const argument of all) {
    const required = /^true$/i.test(String(argument.required));
    const { name: own } = argument;
    if (typeof own === 'string' && /^[\w-]{1,64}$/.test(own)) {
      if (fine.length < MAX_PROMPT_ARGUMENTS) fine.push({ name: own, required });
      else if (required) throw new Error(`it needs more than ${MAX_PROMPT_ARGUMENTS} arguments`);
    } else if (required) {
      throw new Error('an argument that it needs has a name that cannot be typed');
    } else remarks.push(`it is used without an argument whose name cannot be typed`);
  }
  const unused = all.length - fine.length - remarks.length;
  if (unused > 0) remarks.push(`it is used without ${unused} of its ${all.length} arguments`);
  return { entry: { name, description: descriptionOf(said), arguments: fine }, remarks };
}

/** A list of arguments, or an object with one entry for each. */
function argumentsOf(said: unknown): readonly Block[] {
  if (Array.isArray(said)) {
    return said.map((one) => (typeof one === 'string' ? { name: one } : (blockOf(one) ?? {})));
  }
  const block = blockOf(said) ?? {};
  const properties = blockOf(block.properties);
  if (properties !== undefined) {
    // As the schema of a tool's arguments is written.
    const needed = toTexts(block.required);
    return Object.keys(properties).map((name) => ({ name, required: needed.includes(name) }));
  }
  const named = Object.entries(block);
  return named.map(([name, one]) => ({ name, ...blockOf(one) }));
}
