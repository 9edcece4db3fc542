import type { SchemaSize } from '@parley/core';
import type { ModelTool } from '@parley/models';
import { OPEN_TOOLS, type ToolNote } from '@parley/prompt';
import type { ConversationMode } from '@parley/store';
import { estimateTokens } from '@parley/workspace';
import type { OpenedTool } from '../loop/turn-journal.ts';
import { createOpenTools } from './open-tools.ts';
import type { Tool } from './tool.ts';
import { shortenSchema } from './tool-definition.ts';

/** The origin of the built-in tools. */
export const BUILT_IN = 'Parley';

export interface RegisteredTool {
  readonly tool: Tool;
  readonly from: string;
  readonly definition: ModelTool;
  readonly size: SchemaSize;
}

/** The tools that a request offers, and their approximate size in tokens. */
export interface OfferedTools {
  readonly offered: readonly ModelTool[];
  readonly tokens: number;
  /** All tools that a call may name, if some of them are not offered yet. */
  readonly callable?: readonly ModelTool[];
}

export interface ToolSet {
  get(name: string): Tool | undefined;
  readonly names: readonly string[];
  readonly notes: readonly ToolNote[];
  /**
   * The definitions of all tools, whether or not their group is open, with the complete schemas by
   * which arguments are read and checked.
   */
  readonly definitions: readonly ModelTool[];
  /** The group of each tool that is offered only once its group is open. */
  readonly groups: ReadonlyMap<string, string>;
  /**
   * The tools to offer when these groups are open: those without a group, then the opened groups in
   * the given order. Opening another group only appends to the list.
   */
  offer(open: readonly string[]): OfferedTools;
  readonly foreign: ReadonlySet<string>;
  /** The cost of validating the arguments of third-party tools. */
  readonly sizes: ReadonlyMap<string, SchemaSize>;
}

/** With `byNeed`, the tools of a group are offered only once the group is open. */
export function createToolSet(entries: readonly RegisteredTool[], byNeed: boolean): ToolSet {
  const tools = new Map(entries.map(({ tool }) => [tool.name, tool]));
  const definitions = entries.map((entry) => entry.definition);
  const groups = new Map(
    byNeed
      ? entries.flatMap(({ tool: { name, group } }) =>
          group === undefined ? [] : ([[name, group]] as const),
        )
      : [],
  );
  const set = {
    get: (name: string) => tools.get(name),
    names: [...tools.keys()],
    notes: entries.map(({ tool, definition }) => createToolNote(tool, definition)),
    definitions,
    groups,
    foreign: new Set(
      entries.flatMap(({ tool, from }) => ((tool.foreign ?? from !== BUILT_IN) ? tool.name : [])),
    ),
    sizes: new Map(
      entries.flatMap(({ tool, from, size }) =>
        from === BUILT_IN ? [] : ([[tool.name, size]] as const),
      ),
    ),
  };
  return addOpener(set);
}

function createToolNote({ name, summary, hint, tier }: Tool, definition: ModelTool): ToolNote {
  const input = definition.inputSchema;
  return { name, summary, tier, input, ...(hint !== undefined && { hint }) };
}

/** Opening a group takes a request of its own, so a few tokens are not worth it. */
const MIN_SAVED_TOKENS = 100;

type ToolParts = Omit<ToolSet, 'offer'>;

/**
 * Adds the tool that opens groups, with a catalog of exactly the tools of this set. Where that
 * saves too little, as in a lane with few tools, all tools are offered.
 */
function addOpener(set: ToolParts): ToolSet {
  const opener = createOpenTools(set);
  if (opener === null) return { ...set, offer: createOffer(set) };
  const { tool, definition } = opener;
  const closed = listSentTools(set).filter(({ name }) => opener.tools.has(name));
  if (estimateToolTokens(closed) - estimateToolTokens([definition]) < MIN_SAVED_TOKENS) {
    const groups = new Map([...set.groups].filter(([name]) => !opener.tools.has(name)));
    const plain = { ...set, groups };
    return { ...plain, offer: createOffer(plain) };
  }
  const whole = {
    ...set,
    get: (name: string) => (name === tool.name ? tool : set.get(name)),
    names: [...set.names, tool.name],
    notes: [...set.notes, createToolNote(tool, definition)],
    definitions: [...set.definitions, definition],
  };
  return { ...whole, offer: createOffer(whole) };
}

/** The tools of these groups as they are offered, with their group. */
export function listGroupTools(
  { groups, offer }: Pick<ToolSet, 'groups' | 'offer'>,
  wanted: readonly string[],
): OpenedTool[] {
  return offer(wanted).offered.flatMap((tool) => {
    const group = groups.get(tool.name);
    return group === undefined ? [] : [{ ...tool, group }];
  });
}

export function estimateToolTokens(tools: readonly ModelTool[]): number {
  return tools.length === 0 ? 0 : estimateTokens(JSON.stringify(tools));
}

/** Only third-party tools have a size, and their schemas are sent as they are. */
function listSentTools({
  definitions,
  sizes,
}: Pick<ToolParts, 'definitions' | 'sizes'>): readonly ModelTool[] {
  return definitions.map((tool) =>
    sizes.has(tool.name) ? tool : { ...tool, inputSchema: shortenSchema(tool.inputSchema) },
  );
}

type OfferParts = Pick<ToolParts, 'definitions' | 'groups' | 'sizes'>;

/** Caches each list, because requests and prompt records are cached by list and by definition. */
function createOffer({ definitions, groups, sizes }: OfferParts): ToolSet['offer'] {
  const known = new Map<string, OfferedTools>();
  let sent: readonly ModelTool[] | undefined;
  return (open) => {
    const key = open.join(' ');
    const before = known.get(key);
    if (before !== undefined) return before;
    sent ??= listSentTools({ definitions, sizes });
    const all = sent;
    const ofGroup = (group: string | undefined) =>
      all.filter(({ name }) => groups.get(name) === group);
    const offered = [undefined, ...open].flatMap(ofGroup);
    const tokens = estimateToolTokens(offered);
    const offer = { offered, tokens, ...(groups.size > 0 && { callable: definitions }) };
    known.set(key, offer);
    return offer;
  };
}

export function removeTools(set: ToolSet, isLeftOut: (name: string) => boolean): ToolSet {
  // The catalog of the groups is written again without the removed tools.
  const isRemoved = (name: string) => name === OPEN_TOOLS || isLeftOut(name);
  const stays = ({ name }: { readonly name: string }) => !isRemoved(name);
  return addOpener({
    get: (name) => (isRemoved(name) ? undefined : set.get(name)),
    names: set.names.filter((name) => !isRemoved(name)),
    notes: set.notes.filter(stays),
    definitions: set.definitions.filter(stays),
    groups: new Map([...set.groups].filter(([name]) => !isRemoved(name))),
    foreign: set.foreign,
    sizes: set.sizes,
  });
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
  const definitions = tools.definitions.map((one) =>
    isHeld(one.name)
      ? { ...one, description: `Not available in ${mode} mode. ${one.description}` }
      : one,
  );
  const { names, groups, foreign, sizes } = tools;
  return {
    ...{ names, groups, foreign, sizes, definitions },
    offer: createOffer({ definitions, groups, sizes }),
    get(name) {
      const tool = tools.get(name);
      return tool !== undefined && isHeld(name) ? createPlaceholderTool(tool, mode) : tool;
    },
    notes: tools.notes.map((note) => (isHeld(note.name) ? { ...note, placeholder: true } : note)),
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

/** Whether the mode of the conversation has replaced a tool by a placeholder. */
export function isPlaceholderTool({ notes }: ToolSet, tool: string): boolean {
  return notes.some(({ name, placeholder }) => name === tool && placeholder === true);
}
