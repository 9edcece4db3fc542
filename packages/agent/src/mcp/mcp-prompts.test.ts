import { silentLogger } from '@parley/core';
import type { McpServerView } from '@parley/tools/mcp';
import { describe, expect, it } from 'vitest';
import { gatherContext } from '../turn/build-prompt.ts';
import {
  createMcpSource,
  parsePromptArguments,
  parsePromptCommand,
  toPromptCommand,
} from './mcp-prompts.ts';

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
  hasResources: false,
  refused: [],
  changed: [],
};
const DOWN: McpServerView = { ...UP, state: { kind: 'connecting' }, prompts: [] };

type Turn = Parameters<ReturnType<typeof createMcpSource>['gather']>[0];

/** Declares only the fields that the source reads. */
function turnOf(text: string, kind: 'owner' | 'guest'): Turn {
  const turn = { messages: [{ text }], reader: { kind, conversationId: 'c' }, view: {} };
  return JSON.parse(JSON.stringify(turn));
}

const gather = (view: McpServerView, text = 'hi', kind: 'owner' | 'guest' = 'owner') => {
  const servers = { views: () => [view], prompt: async () => 'Say hi.\n# Rules\nNone.' };
  const source = createMcpSource({ servers, rules: { browser: RULES }, log: silentLogger });
  const skill = { text: 'Knit.', source: 'skill', audience: { kind: 'everyone' } } as const;
  const skills = { id: 'skills', gather: async () => ({ calledSkills: [skill] }) };
  return gatherContext([skills, source], turnOf(text, kind), silentLogger);
};

describe('[G03] the contribution of MCP servers to a turn', () => {
  it('includes the connector text while the MCP server is connected', async () => {
    expect((await gather(UP)).connectors).toEqual([
      { name: 'browser', connected: true, text: 'Web.' },
    ]);
    expect((await gather(DOWN)).connectors).toMatchObject([{ connected: false }]);
  });

  it('lists the prompts that a person can select, with the command for each', async () => {
    const { mcpPrompts } = await gather(UP);
    expect(mcpPrompts?.[0]?.description).toBe('Greets. To pick it: `/mcp__browser__greet`');
  });

  it('[P18] includes a selected prompt, wrapped in delimiters, after the invoked skills', async () => {
    const { calledSkills } = await gather(UP, '/mcp__browser__greet');
    expect(calledSkills?.map(({ text }) => text)).toEqual([
      'Knit.',
      expect.stringMatching(
        /no more.*\n<outside id="(\w+)">\nSay hi\.\n# Rules\nNone\.\n<\/outside id="\1">$/,
      ),
    ]);
    expect(calledSkills?.[1]?.audience).toEqual({ kind: 'owner' });
  });

  it('does not contribute anything for readers other than the owner', async () => {
    const { connectors, mcpPrompts, calledSkills } = await gather(
      UP,
      '/mcp__browser__greet',
      'guest',
    );
    expect({ connectors, mcpPrompts }).toEqual({});
    expect(calledSkills).toHaveLength(1);
  });
});

const TWO = {
  name: 'args-prompt',
  description: '',
  arguments: [
    { name: 'city', required: true },
    { name: 'state', required: false },
  ],
};

describe('[G03] selecting an MCP server’s prompt', () => {
  it.each([
    ['/mcp__every__args-prompt city=Rome', 'every', 'args-prompt', 'city=Rome'],
    [' /MCP__Every__simple@parley_bot\n', 'every', 'simple', ''],
  ])('recognizes a prompt command in %j', (text, server, prompt, rest) => {
    expect(parsePromptCommand(text)).toEqual({ server, prompt, rest });
  });

  it.each(['/mcp', '/mcp__every', 'see /mcp__a__b', '/mcp__a__b/c', ''])(
    'does not recognize a prompt command in %j',
    (text) => {
      expect(parsePromptCommand(text)).toBeNull();
    },
  );

  it.each([
    ['city=Rome state="New York"', { city: 'Rome', state: 'New York' }, []],
    ['Rome in May', { city: 'Rome in May' }, []],
    ['state=NY other=x', { state: 'NY' }, ['city']],
    ['', {}, ['city']],
  ])('parses the arguments %j', (words, values, missing) => {
    expect(parsePromptArguments(TWO, words)).toEqual({ values, missing });
  });

  it('shows the command to type in the prompt’s description', () => {
    expect(toPromptCommand('every', TWO)).toBe('/mcp__every__args-prompt city=… state=…');
    expect(toPromptCommand('every', { ...TWO, name: 'no way' })).toBeNull();
  });
});
