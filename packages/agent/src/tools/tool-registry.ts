import { type Reader, reasonOf } from '@parley/core';
import { OPEN_TOOLS } from '@parley/prompt';
import type { Tool } from './tool.ts';
import { describeInput, toDefinition } from './tool-definition.ts';
import {
  BUILT_IN,
  createToolSet,
  type RegisteredTool,
  removeTools,
  type ToolSet,
} from './tool-set.ts';

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
  /** Offers the tools of a group only once the group is open; by default, all tools are offered. */
  readonly byNeed?: boolean;
}

export interface ToolProblem {
  readonly code: 'tool-name' | 'tool-duplicate' | 'tool-schema';
  readonly tool: string;
  readonly from: string;
  readonly message: string;
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
  // If the operator has blocked the tool that opens groups, all tools are offered at once.
  const byNeed = options.byNeed === true && !block.includes(OPEN_TOOLS);
  const problems: ToolProblem[] = [];
  const fixed = new Map<string, RegisteredTool>();
  const all = [{ from: BUILT_IN, tools: builtIn }, ...added];
  addTools(fixed, all, (problem) => problems.push(problem));
  const isWanted = ({ tool }: RegisteredTool) =>
    (allow === undefined || allow.includes(tool.name)) && !block.includes(tool.name);
  const setsWith = (lively: readonly AddedTools[]) => {
    const entries = new Map(fixed);
    addTools(entries, lively, onProblem);
    const wanted = [...entries.values()].filter(isWanted);
    return {
      lively,
      owner: createToolSet(wanted, byNeed),
      guest: createToolSet(
        wanted.filter(({ tool }) => tool.audience === 'everyone'),
        byNeed,
      ),
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

function addTools(
  entries: Map<string, RegisteredTool>,
  all: readonly AddedTools[],
  onProblem?: (problem: ToolProblem) => void,
): void {
  for (const { from, tools } of all) {
    for (const tool of tools) {
      // `open_tools` is created for each set of tools.
      const holder = tool.name === OPEN_TOOLS ? BUILT_IN : entries.get(tool.name)?.from;
      const entry =
        holder === undefined ? registerTool(tool, from) : createNameClashFault(tool, holder);
      if ('code' in entry) onProblem?.({ ...entry, tool: tool.name, from });
      else entries.set(tool.name, entry);
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

function registerTool(tool: Tool, from: string): RegisteredTool | ToolFault {
  if (!NAME.test(tool.name)) {
    const message = `The name must be snake_case: a–z, 0–9 and _, at most 64 characters.`;
    return { code: 'tool-name', message };
  }
  try {
    const { size, schema: inputSchema } = describeInput(tool.input);
    if (inputSchema.type !== 'object') {
      const message = isServerTool(tool)
        ? `The server does not describe its arguments as an object. Update the server, ${BLOCK}.`
        : 'Its input must be an object: use z.object.';
      return { code: 'tool-schema', message };
    }
    return { tool, from, definition: toDefinition(tool, inputSchema), size };
  } catch (error) {
    // Zod can check more than JSON Schema can express, a plugin may have no schema, and some checks
    // could take forever.
    const what = `Its input cannot be described to a model or checked: ${reasonOf(error)}`;
    const message = isServerTool(tool) ? `${what}. Update the server, ${BLOCK}.` : what;
    return { code: 'tool-schema', message };
  }
}
