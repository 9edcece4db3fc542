import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Reader, silentLogger } from '@parley/core';
import { EXAMPLE_FACTS } from '@parley/core/testing';
import { openWorkspace } from '@parley/workspace';
import { z } from 'zod';
import { defineTool, type Tool, type ToolCall } from '../tools/tool.ts';

export type ToolScene = Awaited<ReturnType<typeof openToolScene>>;

/** Opens a scene with these files, at 14:05 in Berlin on 21 November 2026. */
export async function openToolScene(files: Readonly<Record<string, string>> = {}) {
  const root = mkdtempSync(join(tmpdir(), 'parley-tools-'));
  const templates = join(root, 'templates');
  mkdirSync(templates);
  const workspace = await openWorkspace({ folder: join(root, 'w'), templates });
  const { folder } = workspace;
  const put = (name: string, text: string): void => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  };
  for (const [name, text] of Object.entries(files)) put(name, text);
  return {
    folder,
    workspace,
    put,
    onDisk: (name: string) => readFileSync(join(folder, name), 'utf8'),
    /**
     * Calls a tool as the owner or as a guest in the same conversation. With `approved`, the call
     * counts as approved by a person.
     */
    async use(tool: Tool, input: unknown, kind: Reader['kind'] = 'owner', approved = false) {
      const reader = { kind, conversationId: 'c' };
      const view = workspace.for(reader);
      const facts = { ...EXAMPLE_FACTS, workspace: folder };
      const proposal = approved ? await tool.proposes?.(input, { view, facts }) : null;
      const call: ToolCall = {
        callId: 't.0.0',
        turnId: 't',
        ...(proposal && { approved: proposal.content }),
        ...{ facts, reader, view },
        session: 0,
        clock: () => Date.UTC(2026, 10, 21, 13, 5),
        log: silentLogger,
        signal: new AbortController().signal,
      };
      return tool.run(input, call);
    },
    close: () => rmSync(root, { recursive: true, force: true }),
  };
}

export interface CountingTool {
  readonly tool: Tool;
  readonly calls: { readonly word: string; readonly call: ToolCall }[];
}

export function createCountingTool(
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
