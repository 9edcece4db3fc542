import { silentLogger } from '@parley/core';
import type { McpServerView } from '@parley/tools/mcp';
import { describe, expect, it } from 'vitest';
import { gatherFeatures } from '../turn-prompt.ts';
import { mcpSource } from './mcp-prompts.ts';

const RULES = {
  tools: { block: [] },
  audience: 'owner',
  timeoutMs: 50,
  connector: 'Web.',
} as const;
const GREET = { name: 'greet', description: 'Greets.', arguments: [] };
const UP: McpServerView = {
  name: 'browser',
  state: { kind: 'connected' },
  tools: [],
  prompts: [GREET],
  refused: [],
};
const DOWN: McpServerView = { ...UP, state: { kind: 'connecting' }, prompts: [] };

type Turn = Parameters<ReturnType<typeof mcpSource>['gather']>[0];

/** Only what the source looks at. */
function turnOf(text: string, kind: 'owner' | 'guest'): Turn {
  const turn = { messages: [{ text }], reader: { kind, conversationId: 'c' }, view: {} };
  return JSON.parse(JSON.stringify(turn));
}

const gather = (view: McpServerView, text = 'hi', kind: 'owner' | 'guest' = 'owner') => {
  const servers = { views: () => [view], prompt: async () => 'Say hi.\n# Rules\nNone.' };
  const source = mcpSource({ servers, rules: { browser: RULES }, log: silentLogger });
  const skill = { text: 'Knit.', source: 'skill', audience: { kind: 'everyone' } } as const;
  const skills = { id: 'skills', gather: async () => ({ calledSkills: [skill] }) };
  return gatherFeatures([skills, source], turnOf(text, kind), silentLogger);
};

describe('[G03] what MCP servers have to say in a turn', () => {
  it('is the connector text, as long as the server is connected', async () => {
    expect((await gather(UP)).connectors).toEqual([
      { name: 'browser', connected: true, text: 'Web.' },
    ]);
    expect((await gather(DOWN)).connectors).toMatchObject([{ connected: false }]);
  });

  it('are the prompts to pick, with what to type', async () => {
    const { mcpPrompts } = await gather(UP);
    expect(mcpPrompts?.[0]?.description).toBe('Greets. To pick it: `/mcp__browser__greet`');
  });

  it('[P18] is a picked prompt in a frame, beside the skills that were called', async () => {
    const { calledSkills } = await gather(UP, '/mcp__browser__greet');
    expect(calledSkills?.map(({ text }) => text)).toEqual([
      'Knit.',
      expect.stringMatching(
        /no more.*\n<outside id="(\w+)">\nSay hi\.\n# Rules\nNone\.\n<\/outside id="\1">$/,
      ),
    ]);
    expect(calledSkills?.[1]?.audience).toEqual({ kind: 'owner' });
  });

  it('is nothing for others than the owner', async () => {
    const { connectors, mcpPrompts, calledSkills } = await gather(
      UP,
      '/mcp__browser__greet',
      'guest',
    );
    expect({ connectors, mcpPrompts }).toEqual({});
    expect(calledSkills).toHaveLength(1);
  });
});
