import { type ModelTool, type ModelToolCall, parseToolArguments } from '@parley/models';
import { OPEN_TOOLS, type ToolNote } from '@parley/prompt';
import { z } from 'zod';
import type { TurnRound } from '../loop/turn-journal.ts';
import { createFailedOutcome, defineTool, type Tool } from './tool.ts';
import { toDefinition } from './tool-definition.ts';

/** This group opens by itself once a document was sent, so the catalog omits it. */
export const DOCUMENTS = 'documents';

interface GroupedTools {
  readonly notes: readonly ToolNote[];
  /** The group of each tool that has one. */
  readonly groups: ReadonlyMap<string, string>;
}

const Input = z.object({ groups: z.array(z.string().min(1)).min(1).max(20) });

/** `Input` as a constant, because the tool is created for each set of tools. */
const INPUT_SCHEMA = {
  type: 'object',
  properties: { groups: { type: 'array', items: { type: 'string' } } },
  required: ['groups'],
};

interface OpenTools {
  readonly tool: Tool;
  readonly definition: ModelTool;
  /** The names of the tools in the catalog. */
  readonly tools: ReadonlySet<string>;
}

/**
 * Creates the tool that opens groups. Its description is the catalog of the grouped tools; it stays
 * the same while groups are opened, so that the list of tools only grows. Returns null if there are
 * no groups.
 */
export function createOpenTools(set: GroupedTools): OpenTools | null {
  const groups = listGroups(set);
  if (groups.length === 0) return null;
  const catalog = groups.map(({ group, tools }) => {
    const lines = tools.map(({ name, summary }) => `\n- ${name}: ${summary}`);
    return `${group}:${lines.join('')}`;
  });
  const names = groups.map(({ group }) => group);
  const tool = defineTool({
    name: OPEN_TOOLS,
    summary: 'Adds groups of tools for the rest of this conversation.',
    hint: `Open a group as soon as a task needs one of its tools.\n${catalog.join('\n')}`,
    tier: 'middleware',
    effect: 'read',
    audience: 'everyone',
    approval: 'never',
    input: Input,
    async run({ groups: wanted }) {
      const unknown = wanted.filter((group) => !names.includes(group));
      const opened = groups.filter(({ group }) => wanted.includes(group));
      const tools = opened.flatMap((one) => one.tools.map(({ name }) => name));
      const quoted = unknown.map((name) => JSON.stringify(name.slice(0, 80).toWellFormed()));
      const text = [
        ...(tools.length === 0 ? [] : [`You can now call: ${tools.join(', ')}.`]),
        ...(unknown.length === 0
          ? []
          : [`There is no group ${quoted.join(', ')}. There are: ${names.join(', ')}.`]),
      ].join(' ');
      return opened.length === 0 ? createFailedOutcome(text) : { text };
    },
  });
  const listed = groups.flatMap(({ tools }) => tools.map(({ name }) => name));
  return { tool, definition: toDefinition(tool, INPUT_SCHEMA), tools: new Set(listed) };
}

interface ToolGroup {
  readonly group: string;
  readonly tools: readonly ToolNote[];
}

function listGroups({ notes, groups }: GroupedTools): readonly ToolGroup[] {
  const listed = [...new Set(groups.values())].filter((group) => group !== DOCUMENTS);
  return listed.map((group) => ({
    group,
    tools: notes.filter(({ name }) => groups.get(name) === group),
  }));
}

/**
 * The open groups after these rounds, in the order in which they were opened. A call of a grouped
 * tool opens its group, so that the model gets the definition of the tool that it uses.
 */
export function listOpenGroups(
  open: readonly string[],
  rounds: readonly TurnRound[],
  { groups }: Pick<GroupedTools, 'groups'>,
): readonly string[] {
  const known = new Set(groups.values());
  const called = rounds.flatMap(({ calls }) =>
    calls.flatMap(({ call }) => groups.get(call.name) ?? listRequestedGroups(call)),
  );
  return [...new Set([...open, ...called])].filter((group) => known.has(group));
}

function listRequestedGroups(call: ModelToolCall): readonly string[] {
  if (call.name !== OPEN_TOOLS) return [];
  return Input.safeParse(parseToolArguments(call)).data?.groups ?? [];
}
