import { createPrefixRenderer } from '@parley/markup';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { holdBackSilence, isSilent } from './loop/hold-back-silence.ts';
import { countingTool } from './testing/counting-tool.ts';
import { openTurnScene, type SceneExtras, type TurnScene } from './testing/turn-scene.ts';

const GROUP = { id: '-9', type: 'group', title: 'Team' } as const;

let scene: TurnScene;
afterEach(() => scene?.close());
async function open(extras: SceneExtras = {}): Promise<TurnScene> {
  scene = await openTurnScene({}, extras);
  return scene;
}
const system = () =>
  scene.model.asked
    .at(-1)
    ?.system.map(({ text }) => text)
    .join('\n') ?? '';
const outcome = () => scene.events.findLast((event) => event.type === 'turn-ended')?.outcome;
const deltas = () => scene.events.flatMap((event) => (event.type === 'turn-delta' ? [event] : []));

describe('an agent with nothing to say', () => {
  it.each(['NO_REPLY', ' NO_REPLY\n'])(
    '[G09] sends nothing, shows nothing, and is no failure: %j',
    async (answer) => {
      await open();
      await scene.write('just talking', { chat: GROUP });
      scene.model.next({ say: answer });
      await scene.answerNext('-9');
      expect(await scene.owed('-9')).toEqual([]);
      expect(deltas()).toEqual([]);
      expect(outcome()).toBe('silent');
      expect(scene.woken).toEqual([]);
      expect(await scene.store.turns.totals(0)).toMatchObject({ failed: 0, inputTokens: 10 });
      expect(await scene.store.transcript.recent('-9', 0, 9)).toHaveLength(2);
    },
  );

  it('[G09] is still an answer when it says more than that', async () => {
    await open();
    await scene.write('hello', { chat: GROUP });
    scene.model.next({ say: 'NO_REPLY is what I would say' });
    await scene.answerNext('-9');
    expect(await scene.owed('-9')).toEqual(['NO_REPLY is what I would say']);
  });

  it('[G09] is told how in groups and at a start, and not where somebody waits for an answer', async () => {
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

  it('[G09] [F12] text is held back only while it may become the token', () => {
    const pieces = fc.array(fc.constantFrom('NO', '_', 'REPLY', ' ', '\n', 'N', 'a'), {
      maxLength: 8,
    });
    fc.assert(
      fc.property(pieces, (all) => {
        let shown = '';
        const pass = holdBackSilence((text) => {
          shown += text;
        });
        for (const piece of all) pass(piece);
        const whole = all.join('');
        if (isSilent(whole)) expect(shown).toBe('');
        else if (!'NO_REPLY'.startsWith(whole.trim())) expect(shown).toBe(whole);
      }),
    );
  });
});

describe('what is shown while a turn uses tools', () => {
  it('[F12] is in the end the answer, without what was said before the tools', async () => {
    await open({ tools: [countingTool('parrot').tool] });
    await scene.write('go');
    const calls = [{ name: 'parrot', with: { word: 'a' } }];
    scene.model.next(
      { say: 'Let me **ask', calls },
      { say: 'And once ``` more', calls },
      { say: 'It says a.' },
    );
    await scene.answerNext();
    expect(new Set(deltas().map(({ step }) => step))).toEqual(new Set([0, 1, 2]));
    // As presence shows it: a later step begins anew.
    const target = { dialect: 'plain', maxLength: 200, unit: 'utf16' } as const;
    let [at, renderer] = [0, createPrefixRenderer(target)];
    for (const { text, step = 0 } of deltas()) {
      if (step !== at) renderer = createPrefixRenderer(target);
      at = step;
      renderer.push(text);
    }
    const { settled, open: growing } = renderer.show();
    expect([...settled, ...growing].map(({ plain }) => plain)).toEqual(await scene.owed());
  });
});
