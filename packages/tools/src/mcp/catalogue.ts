import { reasonOf } from '@parley/core';
import { z } from 'zod';
import { toCleanLine } from './clean.ts';
import { type Block, getOwnValue, toBlock, toStrings } from './schema/json-block.ts';
import {
  type ArgumentShape,
  type CleanSchema,
  createOfferedSchema,
} from './schema/offer-schema.ts';

/** A tool offered by a server, sanitized so that nothing in it can pass for Parley's own text. */
export interface McpTool {
  /** The name of the tool on the server; it is sent back to the server and never shown. */
  readonly name: string;
  /** The description on one line; empty if the server provides none. */
  readonly description: string;
  /** The schema of the tool's arguments, which is always an object. */
  readonly schema: CleanSchema;
  /** Converts a model's arguments to those of the server; absent when no conversion is needed. */
  readonly shape?: ArgumentShape;
  /** Whether the server claims that the tool changes nothing. The claim may be false. */
  readonly readOnly: boolean;
}

export interface McpPromptArgument {
  readonly name: string;
  readonly required: boolean;
}

/** A sanitized prompt from an MCP server. */
export interface McpPrompt {
  /** The name of the prompt on the server. */
  readonly name: string;
  readonly description: string;
  readonly arguments: readonly McpPromptArgument[];
}

/** An entry in a server's lists that was omitted or changed, and the reason. */
export interface McpRemark {
  readonly what: string;
  readonly reason: string;
}

/** Everything a server offers. */
export interface McpCatalog {
  readonly tools: readonly McpTool[];
  readonly prompts: readonly McpPrompt[];
  /** Whether the server offers resources, which are listed on demand. */
  readonly hasResources: boolean;
  readonly refused: readonly McpRemark[];
  readonly changed: readonly McpRemark[];
}

/** The catalogue of a disconnected server. */
export const NOTHING: McpCatalog = {
  tools: [],
  prompts: [],
  hasResources: false,
  refused: [],
  changed: [],
};

/** The entries of one kind that a server lists. */
export interface ListedEntries {
  readonly items: readonly unknown[];
  /** Why the list is incomplete; null when it is complete. */
  readonly problem: string | null;
}

/**
 * The maximum number of tools, and of prompts, accepted from one server. A model cannot choose
 * reliably among more.
 */
const MAX_ENTRIES = 128;
const MAX_NAME = 200;
/**
 * The maximum total size of a server's tool schemas, in characters, because building their
 * validators blocks the event loop.
 */
const MAX_SCHEMA_TEXT = 200_000;
/** The maximum length of a description, in characters. */
const MAX_DESCRIPTION = 1_000;
const MAX_PROMPT_ARGUMENTS = 20;

/** An accepted entry and what was changed about it. */
interface AcceptedEntry<Entry> {
  readonly entry: Entry;
  readonly remarks: readonly string[];
}

/**
 * Reads a server's lists entry by entry. An invalid entry is omitted and reported; the other
 * entries are unaffected.
 */
export function parseCatalog(
  tools: ListedEntries,
  prompts: ListedEntries,
  hasResources = false,
): McpCatalog {
  const refused: McpRemark[] = [];
  const changed: McpRemark[] = [];
  const read = <Entry extends { readonly name: string }>(
    { items, problem }: ListedEntries,
    kind: string,
    take: (said: Block) => AcceptedEntry<Entry>,
  ): readonly Entry[] => {
    if (problem !== null) refused.push({ what: `its ${kind}s`, reason: problem });
    const found = new Map<string, Entry>();
    for (const [nth, said] of items.slice(0, MAX_ENTRIES).entries()) {
      const what = `${kind} ${parseEntryName(said, nth)}`;
      try {
        const { entry, remarks } = take(parseEntry(said));
        if (found.has(entry.name)) throw new Error('an earlier one has the same name');
        found.set(entry.name, entry);
        for (const reason of remarks) changed.push({ what, reason });
      } catch (error) {
        refused.push({ what, reason: reasonOf(error) });
      }
    }
    const more = items.length - MAX_ENTRIES;
    const reason = `at most ${MAX_ENTRIES} are taken`;
    if (more > 0) refused.push({ what: `${more} more ${kind}s`, reason });
    // The tools are sorted by name, so that a server that lists them in a different order does not
    // invalidate the prompt cache.
    return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  };
  const takeWithin = createSizeLimit();
  return {
    tools: read(tools, 'tool', (said) => takeWithin(parseTool(said))),
    prompts: read(prompts, 'prompt', parsePrompt),
    hasResources,
    refused,
    changed,
  };
}

/** Refuses a tool once a server's schemas exceed their maximum total size. */
function createSizeLimit(): (taken: AcceptedEntry<McpTool>) => AcceptedEntry<McpTool> {
  let size = 0;
  return (taken) => {
    const { length } = JSON.stringify(taken.entry.schema);
    if (size + length > MAX_SCHEMA_TEXT) {
      throw new Error('the argument schemas of this server are too large in total');
    }
    size += length;
    return taken;
  };
}

function parseEntry(said: unknown): Block {
  const entry = Array.isArray(said) ? undefined : toBlock(said);
  if (entry === undefined) throw new Error('it is not a JSON object');
  // Tools in the format of model APIs are nested one level deeper.
  const inside = entry.name === undefined ? toBlock(entry.function) : undefined;
  return inside ?? entry;
}

function parseEntryName(said: unknown, nth: number): string {
  const entry = toBlock(said) ?? {};
  const name = getOwnValue(entry, 'name') ?? toBlock(entry.function)?.name;
  if (typeof name === 'string' && name.trim() !== '') return toCleanLine(name, 80);
  return `number ${nth + 1}, without a name`;
}

function parseName({ name }: Block): string {
  if (typeof name !== 'string' || name.trim() === '') {
    throw new Error('it has no name, or its name is not a string');
  }
  if (name.length > MAX_NAME) {
    throw new Error(`its name has ${name.length} characters; at most ${MAX_NAME} are taken`);
  }
  return name;
}

function parseTool(said: Block): AcceptedEntry<McpTool> {
  const name = parseName(said);
  const { schema, shape, remark } = createOfferedSchema(findSchema(said));
  assertValidatable(schema);
  const { readOnlyHint } = toBlock(said.annotations) ?? {};
  // Only the exact annotation counts, because a guess must not allow a call without approval.
  const readOnly = readOnlyHint === true;
  const differs = Object.keys(shape).length > 0;
  const entry = {
    name,
    description: getDescription(said),
    schema,
    ...(differs && { shape }),
    readOnly,
  };
  return { entry, remarks: remark === null ? [] : [remark] };
}

/**
 * Servers that forward tools of a model API keep the key under which that API stores the schema.
 */
function findSchema(said: Block): unknown {
  const [found] = ['inputSchema', 'input_schema', 'parameters'].flatMap((key) =>
    (getOwnValue(said, key) ?? null) === null ? [] : [said[key]],
  );
  return found;
}

function assertValidatable(schema: CleanSchema): void {
  try {
    z.fromJSONSchema({ ...schema });
  } catch (error) {
    throw new Error(`its arguments cannot be checked: ${reasonOf(error)}`);
  }
}

/** Returns the description, or the title if there is none; paragraphs may be listed separately. */
function getDescription(said: Block): string {
  const { annotations, description, title } = said;
  const words = toStrings(description).join(' ').trim();
  const titles = [...toStrings(title), ...toStrings(toBlock(annotations)?.title)];
  return toCleanLine(words === '' ? (titles[0] ?? '') : words, MAX_DESCRIPTION);
}

function parsePrompt(said: Block): AcceptedEntry<McpPrompt> {
  const name = parseName(said);
  const all = listArguments(said.arguments);
  const fine: McpPromptArgument[] = [];
  const remarks: string[] = [];
  for (const argument of all) {
    const required = /^true$/i.test(String(argument.required));
    const { name: own } = argument;
    if (typeof own === 'string' && /^[\w-]{1,64}$/.test(own)) {
      if (fine.length < MAX_PROMPT_ARGUMENTS) fine.push({ name: own, required });
      else if (required) throw new Error(`it needs more than ${MAX_PROMPT_ARGUMENTS} arguments`);
    } else if (required) {
      throw new Error('a required argument has a name that cannot be typed');
    } else remarks.push(`it is used without an argument whose name cannot be typed`);
  }
  const unused = all.length - fine.length - remarks.length;
  if (unused > 0) remarks.push(`it is used without ${unused} of its ${all.length} arguments`);
  return { entry: { name, description: getDescription(said), arguments: fine }, remarks };
}

/** The arguments may be a list, or an object with one entry per argument. */
function listArguments(said: unknown): readonly Block[] {
  if (Array.isArray(said)) {
    return said.map((one) => (typeof one === 'string' ? { name: one } : (toBlock(one) ?? {})));
  }
  const block = toBlock(said) ?? {};
  const properties = toBlock(block.properties);
  if (properties !== undefined) {
    // The arguments are written as a JSON Schema, as in tools.
    const needed = toStrings(block.required);
    return Object.keys(properties).map((name) => ({ name, required: needed.includes(name) }));
  }
  const named = Object.entries(block);
  return named.map(([name, one]) => ({ name, ...toBlock(one) }));
}
