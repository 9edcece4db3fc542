import { afterEach, describe, expect, it } from 'vitest';
import { createCountingTool } from '../testing/tool-scene.ts';
import { openTurnScene, type SceneOptions, type TurnScene } from '../testing/turn-scene.ts';
import { PLACE } from '../testing/write-message.ts';
import { createCannedModel } from '../testing/written-model.ts';

const GROUP = { id: '-9', type: 'group', title: 'Team' } as const;

let scene: TurnScene;
afterEach(() => scene?.close());

async function open(texts: readonly string[], extras: SceneOptions = {}) {
  const written = createCannedModel(...texts);
  scene = await openTurnScene({}, { ...extras, model: written.model });
  return written;
}

function draft(): string {
  const deltas = scene.events.flatMap((event) => (event.type === 'turn-delta' ? [event] : []));
  const last = deltas.at(-1);
  const isLast = (one: (typeof deltas)[number]) =>
    one.turnId === last?.turnId && one.step === last.step;
  return deltas.flatMap((one) => (isLast(one) ? one.text : [])).join('');
}

const THOUGHT = 'A secret heron. Be short.';

describe('a turn whose model writes its reasoning into its answer', () => {
  it.each([
    ['in tags', `<think>\n${THOUGHT}\n</think>\n\nHello!`],
    ['without a beginning', `${THOUGHT}\n</think>\n\nHello!`],
  ])('[G20] sends, shows and remembers only the answer, not the reasoning: %s', async (_, text) => {
    const { asked } = await open([text]);
    await scene.write('hi');
    await scene.answerNext();
    await scene.write('and now?');
    await scene.answerNext();
    expect(await scene.owed()).toEqual(['Hello!', 'Hello!']);
    expect(draft()).toBe('Hello!');
    expect(asked.join('\n')).not.toContain('heron');
    const entries = await scene.store.transcript.recent('c', 0, 9);
    expect(JSON.stringify(entries)).not.toContain('heron');
  });

  it.each([
    ['in tags', `<think>\n${THOUGHT}\n</think>\n\nNO_REPLY`],
    ['without a beginning', `${THOUGHT}\n</think>\nNO_REPLY`],
  ])('[G09] [G20] stays silent in a group: %s', async (_, text) => {
    await open([text]);
    await scene.write('just talking', { chat: GROUP });
    await scene.answerNext('-9');
    expect(scene.outcome()).toBe('silent');
    expect(await scene.owed('-9')).toEqual([]);
  });

  it('[P17] [G20] keeps the reasoning for the inspector', async () => {
    await open([`<think>\n${THOUGHT}\n</think>\n\nHello!`]);
    await scene.write('hi');
    await scene.answerNext();
    const [newest] = await scene.store.prompts.list({ limit: 1 });
    const recorded = await scene.store.prompts.ofTurn(newest?.turnId ?? '');
    expect(recorded?.asides).toEqual([
      { step: 0, reasoning: THOUGHT, reasoningCharacters: THOUGHT.length + 2, dropped: [] },
    ]);
    expect(JSON.stringify(recorded?.messages)).not.toContain('heron');
  });

  it('[G20] tells the model why a call written as text did not run, if it wrote nothing else', async () => {
    const parrot = createCountingTool('parrot');
    const { asked } = await open(
      ['<tool_call>{"name": "eagle", "arguments": {}}</tool_call>', 'Then not.'],
      { tools: [parrot.tool] },
    );
    await scene.write('go');
    await scene.answerNext();
    expect(await scene.owed()).toEqual(['Then not.']);
    expect(asked[1]).toContain('There are: parrot.');
  });

  it('[G20] runs a call that the model wrote as text, and does not show that text', async () => {
    const parrot = createCountingTool('parrot');
    const text =
      '<think>Ask it.</think>\n<tool_call>{"name": "Parrot", "arguments": {"word": "hi"}}</tool_call>';
    const { asked } = await open([text, 'It says hi.'], { tools: [parrot.tool] });
    await scene.write('go');
    await scene.answerNext();
    expect(parrot.calls.map(({ word }) => word)).toEqual(['hi']);
    expect(await scene.owed()).toEqual(['It says hi.']);
    expect(asked[1]).not.toMatch(/tool_call>|Ask it/);
  });
});

describe('a heartbeat whose model writes its reasoning into its answer', () => {
  it.each([
    `<think>\n${THOUGHT}\n</think>\nHEARTBEAT_OK`,
    `${THOUGHT}\n</think>\nHEARTBEAT_OK`,
    `<think>\n${THOUGHT}\n</think>\nThe door is open.`,
  ])('[H02] [G20] only the answer decides the result of the heartbeat: %j', async (text) => {
    const judged: string[] = [];
    const judge: NonNullable<SceneOptions['heartbeat']>['judge'] = async (answer) => {
      judged.push(answer);
      return { state: 'quiet', reason: 'all is quiet' };
    };
    await open(['hello', text], { heartbeat: { judge } });
    await scene.write('hello');
    await scene.answerNext();
    await scene.store.heartbeats.start(beat(), null, 1);
    await scene.answerNext('beat:main');
    expect(judged).toEqual([text.slice(text.indexOf('</think>') + 8).trim()]);
  });
});

function beat() {
  const target = { dialect: 'plain', maxLength: 4096, unit: 'utf16' } as const;
  return {
    id: 'b1',
    agent: 'main',
    task: 'mail',
    target: 'c',
    message: {
      conversationId: 'beat:main',
      route: { ...PLACE, chatId: 'c', chatType: 'direct' as const, target },
      receivedAt: 1,
      fromOwner: true,
      message: {
        ...PLACE,
        messageId: 'b1',
        chat: { id: 'beat:main', type: 'direct' as const },
        sender: { id: '1', name: 'Ann', isBot: false },
        text: '⚙️ Heartbeat.',
        mentions: [],
        addressed: true,
        sentAt: 1,
        variables: { task: 'mail', instruction: 'Look for mail.', schedule: 'every 30 min' },
        trigger: 'heartbeat' as const,
      },
    },
  };
}
