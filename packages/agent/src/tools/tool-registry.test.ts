import type { CommandTransaction, ConversationMode } from '@parley/store';
import { estimateTokens } from '@parley/workspace';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createCountingTool } from '../testing/tool-scene.ts';
import { openTurnScene, type TurnScene } from '../testing/turn-scene.ts';
import { OWNER_CHAT, PLACE } from '../testing/write-message.ts';
import { createBuiltInTools } from './built-in-tools.ts';
import { defineTool, type Tool } from './tool.ts';
import { createToolRegistry, type ToolRegistryOptions } from './tool-registry.ts';
import { listToolsInMode, removeTools } from './tool-set.ts';

const OWNER = { kind: 'owner', conversationId: 'c' } as const;
const GUEST = { kind: 'guest', conversationId: 'c' } as const;

function tool(name: string, change: Partial<Tool> = {}): Tool {
  return {
    ...defineTool({
      name,
      summary: `Does ${name}.`,
      tier: 'middleware',
      effect: 'read',
      audience: 'everyone',
      approval: 'never',
      input: z.object({ word: z.string().default('x').describe('Any word.') }),
      run: async () => ({ text: name }),
    }),
    ...change,
  };
}

const namesOf = (options: ToolRegistryOptions, reader: typeof OWNER | typeof GUEST = OWNER) =>
  createToolRegistry(options).registry.for(reader).names;

describe('the tools of an installation', () => {
  it('[G11] have a token count for the definitions offered in each mode', () => {
    const builtIn = [tool('one', { effect: 'write' }), tool('two', { audience: 'owner' })];
    const { registry } = createToolRegistry({ builtIn });
    const all = registry.for(OWNER);
    const sets = [
      all,
      registry.for(GUEST),
      listToolsInMode(all, 'ask'),
      removeTools(all, (name) => name === 'one'),
    ];
    for (const set of sets) {
      const { offered, tokens } = set.offer([]);
      expect(tokens).toBe(estimateTokens(JSON.stringify(offered)));
    }
    expect(removeTools(all, () => true).offer([]).tokens).toBe(0);
  });

  it('[G02] [P11] are listed in the prompt and offered to the model in the same order', () => {
    const { registry, problems } = createToolRegistry({
      builtIn: [tool('one', { hint: 'Seldom.' }), tool('two')],
    });
    const set = registry.for(GUEST);
    expect(problems).toEqual([]);
    expect(set.notes.map(({ input: _, ...note }) => note)).toEqual([
      { name: 'one', summary: 'Does one.', hint: 'Seldom.', tier: 'middleware' },
      { name: 'two', summary: 'Does two.', tier: 'middleware' },
    ]);
    expect(set.offer([]).offered).toMatchObject([
      { name: 'one', description: 'Does one. Seldom.' },
      {},
    ]);
    expect(set.offer([]).offered[0]?.inputSchema).toMatchObject({
      type: 'object',
      properties: { word: { type: 'string', description: 'Any word.' } },
    });
  });

  it('[G02] have valid definitions if built in, and those that write are for the owner only', () => {
    const { registry, problems } = createToolRegistry({ builtIn: createBuiltInTools({}) });
    expect(problems).toEqual([]);
    expect(registry.for(OWNER).names).toEqual([
      'read',
      'list',
      'grep',
      'write',
      'edit',
      'ask_user',
      'current_time',
    ]);
    expect(registry.for(GUEST).names).toEqual(['read', 'list', 'grep', 'ask_user', 'current_time']);
    expect(JSON.stringify(registry.for(OWNER).definitions)).not.toContain('$schema');
  });

  const input = (name: string): z.ZodType => {
    const text = z.string();
    switch (name) {
      case 'ambiguous':
        return z.object({ word: text.regex(/^(a+)+$/) });
      case 'ambiguous key':
        return z.object({ words: z.record(text.regex(/^(?:\w+\s?)*$/), text) });
      case 'doubled':
        return z.object({ part: doubled(z.object({ word: text }), 40) });
      default:
        return z.object({ all: z.array(z.union(manyLiterals())) });
    }
  };
  it.each(['ambiguous', 'ambiguous key', 'doubled', 'large'])(
    '[D13] are left out if they are from a plugin and checking their arguments could take forever: %s',
    (what) => {
      const added = [{ from: 'mine', tools: [tool('bad', { input: input(what) }), tool('good')] }];
      const { registry, problems } = createToolRegistry({ builtIn: [], added });
      expect(registry.for(OWNER).names).toEqual(['good']);
      expect(problems).toMatchObject([{ code: 'tool-schema', tool: 'bad', from: 'mine' }]);
    },
  );

  it('[W02] do not exist for other readers if they are for the owner only', () => {
    const builtIn = [tool('open'), tool('secret', { audience: 'owner' })];
    const guest = createToolRegistry({ builtIn }).registry.for(GUEST);
    expect(guest.names).toEqual(['open']);
    expect(guest.get('secret')).toBeUndefined();
    expect(JSON.stringify([guest.notes, guest.definitions])).not.toContain('secret');
    expect(namesOf({ builtIn }, OWNER)).toEqual(['open', 'secret']);
  });

  it('[G05] are offered even if they need an approval, because an approver decides each call', () => {
    expect(namesOf({ builtIn: [tool('safe'), tool('risky', { approval: 'ask' })] })).toEqual([
      'safe',
      'risky',
    ]);
  });

  it.each<[string, Partial<ToolRegistryOptions>, readonly string[]]>([
    ['without settings all', {}, ['one', 'two', 'more']],
    ['only those allowed', { allow: ['two', 'more'] }, ['two', 'more']],
    ['none allowed', { allow: [] }, []],
    ['not those blocked', { block: ['one'] }, ['two', 'more']],
    ['block wins', { allow: ['one', 'two'], block: ['one'] }, ['two']],
  ])('[P15] are selected by the settings: %s', (_what, filter, expected) => {
    const added = [{ from: 'a plugin', tools: [tool('more')] }];
    expect(namesOf({ builtIn: [tool('one'), tool('two')], added, ...filter })).toEqual(expected);
  });

  it('[G05] count as returning untrusted text if they declare it, or are third-party tools that do not deny it', () => {
    const own = tool('own', { foreign: false });
    const { registry } = createToolRegistry({
      builtIn: [tool('one'), tool('page', { foreign: true })],
      added: [{ from: 'a plugin', tools: [tool('weather'), own] }],
      live: () => [{ from: 'a server', tools: [tool('mail')] }],
    });
    expect([...registry.for(OWNER).foreign]).toEqual(['page', 'weather', 'mail']);
  });
});

describe('a rejected tool', () => {
  const withPlugin = (...tools: Tool[]) =>
    createToolRegistry({ builtIn: [tool('read')], added: [{ from: 'parrot', tools }] });

  it('[P16] does not replace a built-in tool, even if the built-in tool is blocked', async () => {
    const false_ = tool('read', { summary: 'Steals.' });
    const { registry, problems } = withPlugin(false_);
    expect(registry.for(OWNER).get('read')?.summary).toBe('Does read.');
    expect(problems).toMatchObject([{ code: 'tool-duplicate', tool: 'read', from: 'parrot' }]);
    const added = [{ from: 'parrot', tools: [false_] }];
    expect(namesOf({ builtIn: [tool('read')], added, block: ['read'] })).toEqual([]);
  });

  it('[P16] does not replace another plugin’s tool', () => {
    const added = [
      { from: 'a', tools: [tool('sing')] },
      { from: 'b', tools: [tool('sing')] },
    ];
    const { problems } = createToolRegistry({ builtIn: [], added });
    expect(problems).toMatchObject([{ from: 'b', message: expect.stringContaining('from a') }]);
  });

  it.each(['Sing', 'sing song', 'sing-song', '1st', '', 'x'.repeat(65), 'read\n'])(
    '[P16] has a name that providers do not accept: %j',
    (name) => expect(withPlugin(tool(name)).problems).toMatchObject([{ code: 'tool-name' }]),
  );

  it.each<[string, Tool['input']]>([
    ['is not an object', z.string()],
    ['cannot be expressed in JSON', z.object({ when: z.date() })],
  ])('[P16] has a schema that %s', (_what, input) => {
    const { problems, registry } = withPlugin(tool('sing', { input }));
    expect(problems).toMatchObject([{ code: 'tool-schema' }]);
    expect(registry.for(OWNER).names).toEqual(['read']);
  });
});

describe('a conversation’s mode', () => {
  let scene: TurnScene;
  afterEach(() => scene.close());

  const setMode = (to: ConversationMode, nth = 1) =>
    command(`/mode ${to}`, nth, (transaction) => transaction.changeMode(to));

  /** Runs a command as ingress does. */
  function command<T>(
    text: string,
    nth: number,
    run: (transaction: CommandTransaction) => Promise<T>,
  ): Promise<T | null> {
    const target = { dialect: 'plain', maxLength: 200, unit: 'utf16' } as const;
    return scene.store.inbox.command(
      {
        conversationId: OWNER_CHAT,
        route: { ...PLACE, chatId: OWNER_CHAT, target },
        receivedAt: Date.UTC(2026, 10, 21, 13, 5),
        message: {
          ...PLACE,
          messageId: `command${nth}`,
          chat: { id: OWNER_CHAT, type: 'direct' },
          sender: { id: '1', name: 'Ada', isBot: false },
          text,
          mentions: [],
          addressed: true,
          sentAt: 0,
          variables: {},
        },
      },
      run,
    );
  }

  const system = () => JSON.stringify(scene.model.asked.at(-1)?.system);

  it.each<[ConversationMode, boolean]>([
    ['agent', true],
    ['ask', false],
    ['plan', false],
  ])('[G04] in %s mode allows a tool with side effects: %s', async (mode, isRun) => {
    const [write, send] = [
      createCountingTool('write', 'write'),
      createCountingTool('send', 'external'),
    ];
    const look = createCountingTool('look');
    scene = await openTurnScene(
      {},
      // A placeholder has no effect, so it needs no approval.
      { tools: [look.tool, write.tool, send.tool], approvals: isRun ? {} : { ask: ['write'] } },
    );
    await setMode(mode);
    await scene.write('do it');
    const calls = ['look', 'write', 'send'].map((name) => ({ name, with: { word: 'x' } }));
    scene.model.next({ calls }, { say: 'Done.' });
    await scene.answerNext();
    expect([look, write, send].map((tool) => tool.calls.length)).toEqual(
      isRun ? [1, 1, 1] : [1, 0, 0],
    );
    const [asked] = scene.model.asked;
    expect(asked?.tools?.map(({ name }) => name)).toEqual(['look', 'write', 'send']);
    expect(asked?.tools?.[1]?.inputSchema).toMatchObject({ properties: { word: {} } });
    const results = scene.model.asked.at(-1)?.messages.filter(({ role }) => role === 'tool');
    expect(results?.[1]?.content).toContain(
      { agent: 'write says x', ask: '`/mode agent`', plan: '`/run`' }[mode],
    );
    expect(system()).toContain(`You are in ${mode} mode`);
    expect(system().includes('Not available now')).toBe(!isRun);
    expect(await scene.store.approvals.recent(9)).toEqual([]);
  });

  it('[G04] [G05] ends a plan with its own button, which runs the plan with all tools, once', async () => {
    const write = createCountingTool('write', 'write');
    scene = await openTurnScene({}, { tools: [write.tool] });
    await setMode('plan');
    await scene.write('tidy up');
    scene.model.next({ say: 'Goal, steps, risks. Shall I?' });
    await scene.answerNext();
    const [plan] = await scene.store.outbox.recent({ ...PLACE, chatId: OWNER_CHAT }, 9);
    expect(plan?.part.buttons).toEqual([
      { label: 'Run the plan', data: '/run turn-2', style: 'primary' },
    ]);
    // Switching the mode is not stored as a message.
    await setMode('agent', 2);
    await expect(scene.begin()).rejects.toThrow('no turn: none');
    const press = (nth: number) =>
      command('/run turn-2', nth, (transaction) => transaction.runPlan('turn-2', 'Run it.'));
    expect(await press(3)).toBe('runs');
    scene.model.next({ calls: [{ name: 'write', with: { word: 'tidy' } }] }, { say: 'Done.' });
    await scene.answerNext();
    expect(write.calls.map(({ word }) => word)).toEqual(['tidy']);
    const said = scene.model.asked.at(-1)?.messages.map(({ content }) => content);
    expect(said?.some((content) => content.includes('Run it.'))).toBe(true);
    expect(await press(4)).toBe('was-run');
    await expect(scene.begin()).rejects.toThrow('no turn: none');
    const parts = await scene.store.outbox.recent({ ...PLACE, chatId: OWNER_CHAT }, 9);
    expect(parts.at(-1)?.part).not.toHaveProperty('buttons');
  });
});

/**
 * Nests objects that each have two equal parts. The schema is small only while the parts are
 * shared.
 */
function doubled(part: z.ZodType, levels: number): z.ZodType {
  return levels === 0 ? part : doubled(z.object({ one: part, other: part }), levels - 1);
}

function manyLiterals() {
  return Array.from({ length: 3_000 }, (_, nth) => z.literal(nth));
}
