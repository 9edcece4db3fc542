import type { Store } from '@parley/store';
import { openMemoryStore } from '@parley/store/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { correctToolCall } from './fit-call.ts';
import { createCronTool } from './time-tools.ts';
import { defineTool, type Tool } from './tool.ts';
import { createToolRegistry } from './tool-registry.ts';
import { isQuickToCheck } from './try-arguments.ts';

const OWNER = { kind: 'owner', conversationId: 'c' } as const;

function toolWith(input: z.ZodType): Tool {
  const rest = { tier: 'middleware', audience: 'everyone', approval: 'never' } as const;
  const run = async () => ({ text: 'done' });
  return defineTool({ name: 'look', summary: 'Looks.', effect: 'read', input, run, ...rest });
}

function fitted(tool: Tool, written: unknown, from: 'Parley' | 'a plugin' = 'Parley'): unknown {
  const { registry } = createToolRegistry(
    from === 'Parley' ? { builtIn: [tool] } : { builtIn: [], added: [{ from, tools: [tool] }] },
  );
  const call = { id: 'x', name: tool.name, arguments: JSON.stringify(written) };
  return JSON.parse(correctToolCall(call, registry.for(OWNER), isQuickToCheck).arguments);
}

let store: Store;
beforeAll(async () => {
  store = await openMemoryStore({ clock: () => 0 });
});
afterAll(() => store.close());

const cron = () => createCronTool({ store, ask: async () => ({ ok: true, text: '' }) });
const ADD = { action: 'add', task: 'call Bo', at: '18:00' };

describe('arguments that mean nothing', () => {
  it.each([
    [
      'the models’ words for nothing',
      { every: 'none', cron: 'null', id: 'N/A', title: 'undefined' },
    ],
    ['empty texts', { every: '', cron: '', id: '', title: '', timeZone: '', format: '' }],
    ['null', { every: null, cron: null, id: null, title: null, timeZone: null, format: null }],
  ])('[G20] are removed from a reminder: %s', (_, filled) => {
    expect(fitted(cron(), { ...ADD, ...filled })).toEqual(ADD);
  });

  it('[G20] are kept if the tool uses them as a keyword', () => {
    const change = { action: 'change', id: 'abc', format: 'none' };
    expect(fitted(cron(), change)).toEqual(change);
  });

  const input = z.object({
    path: z.string(),
    offset: z.int().min(1).optional(),
    tags: z.array(z.string()).min(1).optional(),
  });

  it.each(['Parley', 'a plugin'] as const)(
    '[G20] are removed if a tool from %s refuses them',
    (from) => {
      const written = { path: 'a.md', offset: 0, tags: [] };
      expect(fitted(toolWith(input), written, from)).toEqual({ path: 'a.md' });
    },
  );

  it('[G20] are kept if the call would be refused without them as well, so that the error refers to the original arguments', () => {
    const written = { path: { a: 1 }, offset: 0 };
    expect(fitted(toolWith(input), written)).toEqual(written);
  });

  it('[G20] are kept if the tool accepts them', () => {
    const written = { path: 'none' };
    expect(fitted(toolWith(input), written)).toEqual(written);
  });
});
