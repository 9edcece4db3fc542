import { z } from 'zod';
import { defineTool, type Tool, type ToolCall } from '../tools/tool.ts';

export interface CountingTool {
  readonly tool: Tool;
  readonly calls: { readonly word: string; readonly call: ToolCall }[];
}

export function countingTool(
  name: string,
  effect: Tool['effect'] = 'read',
  during: (call: ToolCall) => Promise<void> | void = () => {},
): CountingTool {
  const calls: CountingTool['calls'] = [];
  const tool = defineTool({
    name,
    summary: `Says a word: ${name}.`,
    tier: 'middleware',
    effect,
    audience: 'everyone',
    approval: 'never',
    input: z.object({ word: z.string() }),
    async run({ word }, call) {
      calls.push({ word, call });
      await during(call);
      return { text: `${name} says ${word}` };
    },
  });
  return { tool, calls };
}

export const say = (name: string, word: string) => ({ name, with: { word } });
