import type { ConversationMode } from '@parley/store';
import { afterEach, describe, expect, it } from 'vitest';
import { countingTool } from '../testing/counting-tool.ts';
import { openTurnScene, type TurnScene } from '../testing/turn-scene.ts';
import { OWNER_CHAT, PLACE } from '../testing/write-message.ts';

let scene: TurnScene;
afterEach(() => scene.close());

/** What `/mode` does, as ingress does it. */
async function setMode(to: ConversationMode, nth = 1): Promise<void> {
  const target = { dialect: 'plain', maxLength: 200, unit: 'utf16' } as const;
  await scene.store.inbox.command(
    {
      conversationId: OWNER_CHAT,
      route: { ...PLACE, chatId: OWNER_CHAT, target },
      receivedAt: Date.UTC(2026, 10, 21, 13, 5),
      message: {
        ...PLACE,
        messageId: `mode${nth}`,
        chat: { id: OWNER_CHAT, type: 'direct' },
        sender: { id: '1', name: 'Ada', isBot: false },
        text: `/mode ${to}`,
        mentions: [],
        addressed: true,
        sentAt: 0,
        variables: {},
      },
    },
    { kind: 'mode', to, planWords: 'Run the plan.' },
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
    expect(results?.[1]?.content).toContain(isRun ? 'write says x' : '`/mode agent`');
    expect(system()).toContain(`You are in ${mode} mode`);
    expect(system().includes('Not available now.')).toBe(!isRun);
    expect(await scene.store.approvals.recent(9)).toEqual([]);
  });

  it('[G04] a plan ends with a button, whose press runs it with all tools', async () => {
    const write = countingTool('write', 'write');
    scene = await openTurnScene({}, { tools: [write.tool] });
    await setMode('plan');
    await scene.write('tidy up');
    scene.model.next({ say: 'Goal, steps, risks. Shall I?' });
    await scene.answerNext();
    const [plan] = await scene.store.outbox.recent({ ...PLACE, chatId: OWNER_CHAT }, 9);
    expect(plan?.part.buttons).toEqual([{ label: 'Run the plan', data: '/mode agent' }]);
    await setMode('agent', 2);
    scene.model.next({ calls: [{ name: 'write', with: { word: 'tidy' } }] }, { say: 'Done.' });
    await scene.answerNext();
    expect(write.calls.map(({ word }) => word)).toEqual(['tidy']);
    expect(
      scene.model.asked.at(-1)?.messages.some(({ content }) => content.includes('Run the plan.')),
    ).toBe(true);
    const parts = await scene.store.outbox.recent({ ...PLACE, chatId: OWNER_CHAT }, 9);
    expect(parts.at(-1)?.part).not.toHaveProperty('buttons');
  });
});
