import { createPrefixRenderer } from '@parley/markup';
import { afterEach, describe, expect, it } from 'vitest';
import { createCountingTool } from '../testing/tool-scene.ts';
import { openTurnScene, type SceneOptions, type TurnScene } from '../testing/turn-scene.ts';

const GROUP = { id: '-9', type: 'group', title: 'Team' } as const;

let scene: TurnScene;
afterEach(() => scene?.close());
async function open(extras: SceneOptions = {}): Promise<TurnScene> {
  scene = await openTurnScene({}, extras);
  return scene;
}
const system = () =>
  scene.model.asked
    .at(-1)
    ?.system.map(({ text }) => text)
    .join('\n') ?? '';
const deltas = () => scene.events.flatMap((event) => (event.type === 'turn-delta' ? [event] : []));

describe('an agent that stays silent', () => {
  it.each(['NO_REPLY', ' NO_REPLY\n'])(
    '[G09] does not send or show anything, and does not count as a failure: %j',
    async (answer) => {
      await open();
      await scene.write('just talking', { chat: GROUP });
      scene.model.next({ say: answer });
      await scene.answerNext('-9');
      expect(await scene.owed('-9')).toEqual([]);
      expect(deltas()).toEqual([]);
      expect(scene.outcome()).toBe('silent');
      expect(scene.woken).toEqual([]);
      expect(await scene.store.turns.totals(0)).toMatchObject({ failed: 0, inputTokens: 10 });
      expect(await scene.store.transcript.recent('-9', 0, 9)).toHaveLength(2);
    },
  );

  it('[G09] shows the answer without the token if there is other text', async () => {
    await open();
    await scene.write('hello', { chat: GROUP });
    scene.model.next({ say: 'NO_REPLY\n\nActually, it rains.' });
    await scene.answerNext('-9');
    expect(await scene.owed('-9')).toEqual(['Actually, it rains.']);
    expect(
      deltas()
        .map(({ text }) => text)
        .join(''),
    ).toBe('Actually, it rains.');
    const [, answer] = await scene.store.transcript.recent('-9', 0, 9);
    expect(answer?.content).toEqual({ text: 'Actually, it rains.' });
  });

  it('[G09] learns how to stay silent in groups and after a start, but not when a person waits', async () => {
    let boot = false;
    await open({ sources: [{ id: 'boot', gather: async () => ({ boot }) }] });
    await scene.write('hello', { chat: GROUP });
    await scene.answerNext('-9');
    expect(system()).toContain('NO_REPLY');
    await scene.write('hello');
    await scene.answerNext();
    expect(system()).not.toContain('NO_REPLY');
    boot = true;
    await scene.write('hello');
    await scene.answerNext();
    expect(system()).toContain('NO_REPLY');
  });
});

describe('the message that an answer quotes', () => {
  const quoted = async (say: string, quotes?: true) => {
    await open();
    await scene.write('hello', { ...(quotes && { quotes }) });
    scene.model.next({ say });
    await scene.answerNext();
    const [owed] = await scene.store.outbox.recent(
      { channel: 'test', account: 'default', chatId: 'c' },
      9,
    );
    const streamed = new Set(deltas().map(({ replyToMessageId }) => replyToMessageId));
    return { text: owed?.part.body.plain, route: owed?.part.route.replyToMessageId, streamed };
  };

  it('[G10] [F12] is chosen by the model, even while the answer is streamed', async () => {
    expect(await quoted('[[reply_to_current]] Yes, really.', true)).toEqual({
      text: 'Yes, really.',
      route: 'm1',
      streamed: new Set(['m1']),
    });
    expect(system()).toContain('reply_to_current');
  });

  it('[G10] is never a message that the model invented', async () => {
    const plain = { text: 'Yes.', route: undefined, streamed: new Set([undefined]) };
    expect(await quoted('[[reply_to:m9]] Yes.', true)).toEqual(plain);
  });

  it('[G10] is not offered in the prompt on platforms that cannot show quotations', async () => {
    const plain = { text: 'Yes.', route: undefined, streamed: new Set([undefined]) };
    expect(await quoted('[[reply_to_current]] Yes.')).toEqual(plain);
    expect(system()).not.toContain('reply_to_current');
  });
});

describe('the live view of a turn that uses tools', () => {
  it('[F12] ends with the answer, without the text before the tools', async () => {
    await open({ tools: [createCountingTool('parrot').tool] });
    await scene.write('go');
    const calls = [{ name: 'parrot', with: { word: 'a' } }];
    scene.model.next(
      { say: 'Let me **ask', calls },
      { say: 'And once ``` more', calls },
      { say: 'It says a.' },
    );
    await scene.answerNext();
    expect(new Set(deltas().map(({ step }) => step))).toEqual(new Set([0, 1, 2]));
    // Renders like the presence code: a later step starts over.
    const target = { dialect: 'plain', maxLength: 200, unit: 'utf16' } as const;
    let [at, renderer] = [0, createPrefixRenderer(target)];
    for (const { text, step = 0 } of deltas()) {
      if (step !== at) renderer = createPrefixRenderer(target);
      at = step;
      renderer.push(text);
    }
    expect((await renderer.show()).map(({ plain }) => plain)).toEqual(await scene.owed());
  });
});
