import { afterEach, describe, expect, it } from 'vitest';
import { createCountingTool, say } from '../testing/tool-scene.ts';
import {
  listToolMessages,
  openTurnScene,
  type SceneOptions,
  type TurnScene,
} from '../testing/turn-scene.ts';
import { decideAsOwner } from '../testing/write-message.ts';

let scene: TurnScene;
afterEach(() => scene?.close());

async function open(extras: SceneOptions): Promise<void> {
  scene = await openTurnScene({}, extras);
  await scene.write('go');
}

const results = () => listToolMessages(scene.model.asked.at(-1)).map(({ content }) => content);

describe('a malformed call by a weaker model', () => {
  it.each([
    ['another case', 'Parrot', '{"word":"hi"}'],
    ['a prefix', 'functions.parrot', '{"word":"hi"}'],
    ['arguments encoded twice', 'parrot', '"{\\"word\\":\\"hi\\"}"'],
    ['a code fence and a comma', 'parrot', '```json\n{"word":"hi",}\n```'],
    ['wrapped arguments', 'parrot', '{"arguments":{"word":"hi"}}'],
  ])(
    '[G20] runs a call with %s, and shows it to the model in the form that the tool accepts',
    async (_, name, written) => {
      const parrot = createCountingTool('parrot');
      await open({ tools: [parrot.tool] });
      scene.model.next({ calls: [{ name, with: written }] }, { say: 'Done.' });
      await scene.answerNext();
      expect(parrot.calls.map(({ word }) => word)).toEqual(['hi']);
      const sent = scene.model.asked[1]?.messages.find(({ role }) => role === 'assistant');
      expect(sent).toMatchObject({ toolCalls: [{ name: 'parrot', arguments: '{"word":"hi"}' }] });
    },
  );

  it('[G05] [G20] shows a corrected call for approval in the form in which it will run', async () => {
    const parrot = createCountingTool('parrot', 'write');
    await open({ tools: [{ ...parrot.tool, approval: 'ask' }] });
    scene.model.next(
      { calls: [{ name: 'tools/Parrot', with: '{"parameters":"{\\"word\\": 7}"}' }] },
      { say: 'Done.' },
    );
    await scene.answerNext();
    expect((await scene.owed()).join('\n')).toContain('word: "7"');
    await decideAsOwner(scene.store, 'approved');
    await scene.answerNext();
    expect(parrot.calls.map(({ word }) => word)).toEqual(['7']);
  });

  it('[G05] [G20] requires the tool’s approval under any spelling of its name', async () => {
    const parrot = createCountingTool('parrot', 'write');
    await open({ tools: [parrot.tool], approvals: { ask: ['parrot'] } });
    scene.model.next({ calls: [say('PARROT', 'hi')] });
    await scene.answerNext();
    expect(scene.outcome()).toBe('suspended');
    expect(parrot.calls).toEqual([]);
  });

  it('[G20] refuses an invalid call, and names the invalid field, its value and the expected type', async () => {
    await open({ tools: [createCountingTool('parrot').tool] });
    scene.model.next({ calls: [{ name: 'parrot', with: { word: ['a', 'b'] } }] }, { say: 'No.' });
    await scene.answerNext();
    expect(results()).toEqual([
      'parrot was not run, because its arguments do not fit:\n- word: expected text, but got ["a","b"]\nCall it again with these corrected.',
    ]);
  });

  it('[G20] never runs a tool that was not offered', async () => {
    const parrot = createCountingTool('parrot');
    await open({ tools: [parrot.tool, { ...createCountingTool('par_rot').tool }] });
    scene.model.next({ calls: [say('ParRot', 'hi'), say('mcp__x__parrot', 'hi')] }, { say: 'No.' });
    await scene.answerNext();
    expect(parrot.calls).toEqual([]);
    expect(results()).toEqual([
      expect.stringContaining('There is no tool "ParRot"'),
      expect.stringContaining('There is no tool "mcp__x__parrot"'),
    ]);
  });
});

describe('a repeated call', () => {
  const REMARK = /^\[/;

  it('[G20] runs only once within a step', async () => {
    const parrot = createCountingTool('parrot', 'external');
    await open({ tools: [parrot.tool] });
    scene.model.next(
      { calls: [say('parrot', 'hi'), { name: 'parrot', with: '{ "word" : "hi" }' }] },
      { say: 'Done.' },
    );
    await scene.answerNext();
    expect(parrot.calls).toHaveLength(1);
    expect(results()).toEqual([
      'parrot says hi',
      expect.stringMatching(/^\[This is the same call [\s\S]*parrot says hi$/),
    ]);
  });

  it.each(['read', 'write'] as const)(
    '[G20] gets the earlier result if nothing happened in between: %s',
    async (effect) => {
      const parrot = createCountingTool('parrot', effect);
      await open({ tools: [parrot.tool] });
      const call = { calls: [say('parrot', 'hi')] };
      scene.model.next(call, call, call, { say: 'Done.' });
      await scene.answerNext();
      expect(parrot.calls).toHaveLength(1);
      expect(results().slice(1)).toEqual([
        expect.stringMatching(REMARK),
        expect.stringMatching(REMARK),
      ]);
    },
  );

  it('[G20] runs again once something has changed', async () => {
    const [parrot, pen] = [createCountingTool('parrot'), createCountingTool('pen', 'write')];
    await open({ tools: [parrot.tool, pen.tool] });
    scene.model.next(
      { calls: [say('parrot', 'hi')] },
      { calls: [say('pen', 'x')] },
      { calls: [say('parrot', 'hi')] },
      { say: 'Done.' },
    );
    await scene.answerNext();
    expect(parrot.calls).toHaveLength(2);
  });

  it('[G20] runs again if the tool’s result changes by itself', async () => {
    const clock = createCountingTool('clock');
    await open({ tools: [{ ...clock.tool, repeats: true }] });
    const call = { calls: [say('clock', 'now')] };
    scene.model.next(call, call, { say: 'Done.' });
    await scene.answerNext();
    expect(clock.calls).toHaveLength(2);
  });

  it('[G20] does not run a third time after failing twice in the same way', async () => {
    const broken = createCountingTool('broken', 'read', () => {
      throw new Error('no bird');
    });
    await open({ tools: [broken.tool] });
    const call = { calls: [say('broken', 'hi')] };
    scene.model.next(call, call, call, { say: 'It does not work.' });
    await scene.answerNext();
    expect(broken.calls).toHaveLength(2);
    expect(results().at(-1)).toMatch(/^\[This very call has failed twice[\s\S]*no bird/);
  });
});
