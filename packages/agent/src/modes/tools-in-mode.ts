import type { ConversationMode } from '@parley/store';
import type { Tool } from '../tools/tool.ts';
import { type ToolSet, toolTokens } from '../tools/tool-registry.ts';

/**
 * The tools of a turn in the mode of its conversation (G04). Outside agent mode, those that change
 * something keep their name and schema, so that the model knows of them, but only explain themselves.
 */
export function toolsInMode(tools: ToolSet, mode: ConversationMode = 'agent'): ToolSet {
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
    get(name) {
      const tool = tools.get(name);
      return tool !== undefined && isHeld(name) ? placeholder(tool, mode) : tool;
    },
    notes: tools.notes.map((note) => (isHeld(note.name) ? { ...note, placeholder: true } : note)),
    offered,
    tokens: toolTokens(offered),
  };
}

/** It needs nobody's yes and leaves no trace: it does nothing. */
function placeholder(tool: Tool, mode: ConversationMode): Tool {
  const instead =
    mode === 'plan'
      ? 'Put what you would do with it into the plan, which `/run` runs.'
      : 'Say what you would do with it, and that `/mode agent` allows it.';
  const text = `${tool.name} was not run: this conversation is in ${mode} mode, where nothing is changed. ${instead}`;
  return { ...tool, effect: 'read', approval: 'never', run: async () => ({ text, failed: true }) };
}

/** Whether the mode of the conversation has put a placeholder in a tool's place. */
export function isPlaceholder({ notes }: ToolSet, tool: string): boolean {
  return notes.some(({ name, placeholder }) => name === tool && placeholder === true);
}
