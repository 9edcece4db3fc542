import { measureSchema, type Reader, reasonOf, type SchemaSize } from '@parley/core';
import type { ModelTool } from '@parley/models';
import type { ToolNote } from '@parley/prompt';
import type { ConversationMode } from '@parley/store';
import { estimateTokens } from '@parley/workspace';
import { z } from 'zod';
import type { Tool } from './tool.ts';

export interface AddedTools {
  readonly from: string;
  readonly tools: readonly Tool[];
}

export interface ToolRegistryOptions {
  readonly builtIn: readonly Tool[];
  readonly added?: readonly AddedTools[];
  /**
   * Tools that are added and removed at run time. Returns the same list object until the tools
   * change.
   */
  readonly live?: () => readonly AddedTools[];
  /** Called for each live tool that is left out, once per change. */
  readonly onProblem?: (problem: ToolProblem) => void;
  /** The only tools to offer; all tools if absent. */
  readonly allow?: readonly string[] | undefined;
  /** Tools that are never offered, even if allowed. */
  readonly block?: readonly string[];
}

export interface ToolProblem {
  readonly code: 'tool-name' | 'tool-duplicate' | 'tool-schema';
  readonly tool: string;
  readonly from: string;
  readonly message: string;
}

export interface ToolSet {
  get(name: string): Tool | undefined;
  readonly names: readonly string[];
  readonly notes: readonly ToolNote[];
  readonly offered: readonly ModelTool[];
  readonly tokens: number;
  readonly foreign: ReadonlySet<string>;
  /** The cost of validating the arguments of third-party tools. */
  readonly sizes: ReadonlyMap<string, SchemaSize>;
}

/**
 * All tools of an installation. A turn resolves its tools once, and its set does not change when
 * live tools appear or disappear. `lacking` names the tools that cannot be used in the turn's chat.
 */
export interface ToolRegistry {
  for(reader: Reader, lacking?: readonly string[]): ToolSet;
}

/** Matches `snake_case`, as the strictest provider requires. */
const NAME = /^[a-z][a-z0-9_]{0,63}$/;

interface RegisteredTool {
  readonly tool: Tool;
  readonly offered: ModelTool;
  readonly size: SchemaSize;
}

/**
 * Validates the names and schemas of all tools once. An invalid tool, or one whose name is taken,
 * is left out and returned as a problem, so that a plugin cannot stop the gateway or replace a
 * built-in tool.
 */
export function createToolRegistry(options: ToolRegistryOptions): {
  readonly registry: ToolRegistry;
  readonly problems: readonly ToolProblem[];
} {
  const { builtIn, added = [], live = () => NONE, onProblem, allow, block = [] } = options;
  const problems: ToolProblem[] = [];
  const fixed = new Map<string, OwnedTool>();
  const all = [{ from: BUILT_IN, tools: builtIn }, ...added];
  addTools(fixed, all, (problem) => problems.push(problem));
  const isWanted = ({ tool }: RegisteredTool) =>
    (allow === undefined || allow.includes(tool.name)) && !block.includes(tool.name);
  const setsWith = (lively: readonly AddedTools[]) => {
    const entries = new Map(fixed);
    addTools(entries, lively, onProblem);
    const wanted = [...entries.values()].filter(isWanted);
    const owner = createToolSet(wanted);
    return {
      lively,
      owner,
      guest: createToolSet(wanted.filter(({ tool }) => tool.audience === 'everyone')),
    };
  };
  let sets = setsWith(live());
  const without = new Map<string, ToolSet>();
  const registry: ToolRegistry = {
    for({ kind }, lacking = NO_NAMES) {
      const lively = live();
      if (lively !== sets.lively) {
        sets = setsWith(lively);
        without.clear();
      }
      if (lacking.length === 0) return sets[kind];
      // Cached, because there are few kinds of chats and describing all tools takes time.
      const key = [kind, ...lacking].join(' ');
      const known = without.get(key) ?? removeTools(sets[kind], (name) => lacking.includes(name));
      without.set(key, known);
      return known;
    },
  };
  return { registry, problems };
}

const NONE: readonly AddedTools[] = [];
const NO_NAMES: readonly string[] = [];
const BUILT_IN = 'Parley';

interface OwnedTool extends RegisteredTool {
  readonly from: string;
}

function addTools(
  entries: Map<string, OwnedTool>,
  all: readonly AddedTools[],
  onProblem?: (problem: ToolProblem) => void,
): void {
  for (const { from, tools } of all) {
    for (const tool of tools) {
      const holder = entries.get(tool.name)?.from;
      const entry = holder === undefined ? registerTool(tool) : createNameClashFault(tool, holder);
      if ('code' in entry) onProblem?.({ ...entry, tool: tool.name, from });
      else entries.set(tool.name, { ...entry, from });
    }
  }
}

type ToolFault = Pick<ToolProblem, 'code' | 'message'>;

/**
 * How the operator of an MCP server can resolve a problem with a tool. The author of a plugin
 * changes the code instead.
 */
const BLOCK = 'or add the tool to the server’s “tools.block”';

function isServerTool({ tier }: Tool): boolean {
  return tier === 'external-mcp';
}

function createNameClashFault(tool: Tool, holder: string): ToolFault {
  const remedy = isServerTool(tool)
    ? `Give the server another name in the settings, ${BLOCK}.`
    : 'Give it another name.';
  const message = `A tool with this name already exists, from ${holder}. ${remedy}`;
  return { code: 'tool-duplicate', message };
}

function registerTool(tool: Tool): RegisteredTool | ToolFault {
  if (!NAME.test(tool.name)) {
    const message = `The name must be snake_case: a–z, 0–9 and _, at most 64 characters.`;
    return { code: 'tool-name', message };
  }
  try {
    const {
      size,
      schema: { $schema: _dialect, ...inputSchema },
    } = describeInput(tool.input);
    if (inputSchema.type !== 'object') {
      const message = isServerTool(tool)
        ? `The server does not describe its arguments as an object. Update the server, ${BLOCK}.`
        : 'Its input must be an object: use z.object.';
      return { code: 'tool-schema', message };
    }
    const { summary, hint } = tool;
    const description = hint === undefined ? summary : `${summary} ${hint}`;
    return { tool, offered: { name: tool.name, description, inputSchema }, size };
  } catch (error) {
    // Zod can check more than JSON Schema can express, a plugin may have no schema, and some checks
    // could take forever.
    const what = `Its input cannot be described to a model or checked: ${reasonOf(error)}`;
    const message = isServerTool(tool) ? `${what}. Update the server, ${BLOCK}.` : what;
    return { code: 'tool-schema', message };
  }
}

/**
 * The JSON Schema for an input, with every reference expanded. Throws if validation against the
 * schema could take forever.
 */
function describeInput(input: z.ZodType) {
  const describe = (reused: 'ref' | 'inline') =>
    z.toJSONSchema(input, {
      io: 'input',
      reused,
      override: ({ jsonSchema }) => {
        // Zod adds these limits to every integer; in requests they would only cost tokens.
        if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
        if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      },
    });
  // Shared parts remain shared at first, because the expanded schema could exceed the memory.
  const shared = describe('ref');
  const size = measureSchema(shared);
  return { size, schema: shared.$defs === undefined ? shared : describe('inline') };
}

export function estimateToolTokens(offered: readonly ModelTool[]): number {
  return offered.length === 0 ? 0 : estimateTokens(JSON.stringify(offered));
}

function createToolSet(entries: readonly OwnedTool[]): ToolSet {
  const tools = new Map(entries.map(({ tool }) => [tool.name, tool]));
  const offered = entries.map((entry) => entry.offered);
  return {
    get: (name) => tools.get(name),
    names: [...tools.keys()],
    notes: entries.map(({ tool: { name, summary, hint, tier }, offered: { inputSchema } }) => ({
      name,
      summary,
      tier,
      input: inputSchema,
      ...(hint !== undefined && { hint }),
    })),
    offered,
    tokens: estimateToolTokens(offered),
    foreign: new Set(
      entries.flatMap(({ tool, from }) => ((tool.foreign ?? from !== BUILT_IN) ? tool.name : [])),
    ),
    sizes: new Map(
      entries.flatMap(({ tool, from, size }) =>
        from === BUILT_IN ? [] : ([[tool.name, size]] as const),
      ),
    ),
  };
}

export function removeTools(set: ToolSet, isLeftOut: (name: string) => boolean): ToolSet {
  const stays = ({ name }: { readonly name: string }) => !isLeftOut(name);
  const offered = set.offered.filter(stays);
  return {
    get: (name) => (isLeftOut(name) ? undefined : set.get(name)),
    names: set.names.filter((name) => !isLeftOut(name)),
    notes: set.notes.filter(stays),
    offered,
    tokens: estimateToolTokens(offered),
    foreign: set.foreign,
    sizes: set.sizes,
  };
}

/**
 * The tools available in a conversation's mode (G04). Outside agent mode, tools with side effects
 * keep their name and schema, so that the model knows about them, but a call only explains that
 * they are not available.
 */
export function listToolsInMode(tools: ToolSet, mode: ConversationMode = 'agent'): ToolSet {
  if (mode === 'agent') return tools;
  const isHeld = (name: string): boolean => {
    const tool = tools.get(name);
    return tool !== undefined && tool.effect !== 'read';
  };
  const offered = tools.offered.map((one) =>
    isHeld(one.name)
      ? { ...one, description: `Not available in ${mode} mode. ${one.description}` }
      : one,
  );
  return {
    names: tools.names,
    foreign: tools.foreign,
    sizes: tools.sizes,
    get(name) {
      const tool = tools.get(name);
      return tool !== undefined && isHeld(name) ? createPlaceholderTool(tool, mode) : tool;
    },
    notes: tools.notes.map((note) => (isHeld(note.name) ? { ...note, placeholder: true } : note)),
    offered,
    tokens: estimateToolTokens(offered),
  };
}

function createPlaceholderTool(tool: Tool, mode: ConversationMode): Tool {
  const instead =
    mode === 'plan'
      ? 'Put what you would do with it into the plan, which `/run` runs.'
      : 'Say what you would do with it, and that `/mode agent` allows it.';
  const text = `${tool.name} was not run: this conversation is in ${mode} mode, where nothing is changed. ${instead}`;
  return { ...tool, effect: 'read', approval: 'never', run: async () => ({ text, failed: true }) };
}

/** Whether the conversation's mode has replaced a tool with a placeholder. */
export function isPlaceholderTool({ notes }: ToolSet, tool: string): boolean {
  return notes.some(({ name, placeholder }) => name === tool && placeholder === true);
}
