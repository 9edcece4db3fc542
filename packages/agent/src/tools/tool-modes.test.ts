import type { CommandEffect, CommandResult, ConversationMode } from '@parley/store';
import { afterEach, describe, expect, it } from 'vitest';
import { countingTool } from '../testing/tool-scene.ts';
import { openTurnScene, type TurnScene } from '../testing/turn-scene.ts';
import { OWNER_CHAT, PLACE } from '../testing/write-message.ts';

let scene: TurnScene;
afterEach(() => scene.close());

const setMode = (to: ConversationMode, nth = 1) =>
  command(`/mode ${to}`, { kind: 'mode', to }, nth);

/** What a command does, as ingress does it. */
function command(text: string, effect: CommandEffect, nth: number): Promise<CommandResult> {
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
    effect,
    () => [],
  );
}

const system = () => JSON.stringify(scene.model.asked.at(-1)?.system);

describe('the mode of a conversation', () => {
  it.each<[ConversationMode, boolean]>([
    ['agent', true],
    ['ask', false],
    ['plan', false],
  ])('[G04] in %s mode a tool that changes something is run: %s', async (mode, isRun) => {
    const [write, send] = [countingTool('write', 'write'), countingTool('send', 'external')];
    const look = countingTool('look');
    scene = await openTurnScene(
      {},
      // A placeholder does nothing, so nobody is asked for it.
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
    expect(system().includes('Not available now.')).toBe(!isRun);
    expect(await scene.store.approvals.recent(9)).toEqual([]);
  });

  it('[G04] [G05] a plan ends with a button of its own, whose press runs it with all tools, once', async () => {
    const write = countingTool('write', 'write');
    scene = await openTurnScene({}, { tools: [write.tool] });
    await setMode('plan');
    await scene.write('tidy up');
    scene.model.next({ say: 'Goal, steps, risks. Shall I?' });
    await scene.answerNext();
    const [plan] = await scene.store.outbox.recent({ ...PLACE, chatId: OWNER_CHAT }, 9);
    expect(plan?.part.buttons).toEqual([{ label: 'Run the plan', data: '/run turn-2' }]);
    // Switching the mode is not a word of anyone.
    await setMode('agent', 2);
    await expect(scene.begin()).rejects.toThrow('no turn: none');
    const press = { kind: 'run-plan', plan: 'turn-2', text: 'Run it.' } as const;
    expect((await command('/run turn-2', press, 3)).plan).toBe('runs');
    scene.model.next({ calls: [{ name: 'write', with: { word: 'tidy' } }] }, { say: 'Done.' });
    await scene.answerNext();
    expect(write.calls.map(({ word }) => word)).toEqual(['tidy']);
    const said = scene.model.asked.at(-1)?.messages.map(({ content }) => content);
    expect(said?.some((content) => content.includes('Run it.'))).toBe(true);
    expect((await command('/run turn-2', press, 4)).plan).toBe('was-run');
    await expect(scene.begin()).rejects.toThrow('no turn: none');
    const parts = await scene.store.outbox.recent({ ...PLACE, chatId: OWNER_CHAT }, 9);
    expect(parts.at(-1)?.part).not.toHaveProperty('buttons');
  });
});
