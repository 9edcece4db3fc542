import { createCheckRunner, type ResponseFormat } from '@parley/core';
import { HOSTILE_SCHEMAS, SLOW_SCHEMAS } from '@parley/core/testing/hostile-schemas';
import { afterEach, describe, expect, it } from 'vitest';
import { createCountingTool, say } from './testing/tool-scene.ts';
import {
  createAgent,
  openTurnScene,
  type SceneOptions,
  type TurnScene,
} from './testing/turn-scene.ts';

const FORMAT: ResponseFormat = {
  type: 'object',
  properties: { copies: { type: 'integer', minimum: 0 } },
  required: ['copies'],
  additionalProperties: false,
};
const GOOD = '{"copies": 3}';
/** Shared by all tests, because starting a thread takes longer than the checks it runs. */
const checks = createCheckRunner();
/**
 * The timeout for checks that never end; with the default, their threads would occupy a processor
 * for that long.
 */
const impatient = () => createCheckRunner({ timeoutMs: 300 });

let scene: TurnScene;
afterEach(() => scene.close());

async function ask(
  responseFormat: ResponseFormat | undefined,
  answers: readonly string[],
  extras: SceneOptions = {},
): Promise<readonly string[]> {
  scene = await openTurnScene({}, { checks, ...extras });
  await scene.write('how many?', { ...(responseFormat && { responseFormat }) });
  scene.model.next(...answers.map((say) => ({ say })));
  await scene.answerNext();
  return scene.owed();
}

const shown = () => scene.events.filter(({ type }) => type === 'turn-delta');
const lastRequest = () => scene.model.asked.at(-1);

describe('an answer with a response format', () => {
  it.each([
    ['plain', GOOD],
    ['in a code fence', `\`\`\`json\n${GOOD}\n\`\`\``],
    ['in a tilde fence', `~~~\n${GOOD}\n~~~\n`],
  ])(
    '[P04] is delivered without its code fence, after a single request, if it matches: %s',
    async (_, answer) => {
      expect(await ask(FORMAT, [answer])).toEqual([GOOD]);
      expect(scene.model.asked).toHaveLength(1);
      const prompt =
        lastRequest()
          ?.system.map(({ text }) => text)
          .join('\n') ?? '';
      expect(prompt).toContain('## Response Format');
      expect(prompt).toContain('"copies"');
      expect(lastRequest()?.format).toEqual(FORMAT);
    },
  );

  it.each([
    ['{"copies": -1}', 'copies: Too small'],
    ['{"copies": 1, "more": 2}', 'Unrecognized key'],
    ['Three copies.', 'it is not JSON'],
    ['NO_REPLY', 'it is not JSON'],
    ['[1]', 'expected object'],
  ])(
    '[P04] is requested a second time, with the mismatch named, if it does not match: %s',
    async (bad, why) => {
      expect(await ask(FORMAT, [bad, GOOD])).toEqual([GOOD]);
      const [, answered, repair] = lastRequest()?.messages ?? [];
      expect(answered).toMatchObject({ role: 'assistant', content: bad });
      expect(repair).toMatchObject({ role: 'user', content: expect.stringContaining(why) });
      expect(scene.outcome()).toBe('answered');
    },
  );

  const [ambiguous] = HOSTILE_SCHEMAS;
  const [slow] = SLOW_SCHEMAS;
  it.each([
    ['a schema stored by an earlier, more permissive version', ambiguous],
    ['a schema that is slow on this answer', slow],
  ])(
    '[D13] fails once, with an explanation, if its validation never ends: %s',
    async (_, format) => {
      let turns = 0;
      const timer = setInterval(() => (turns += 1), 10);
      const owed = await ask(format?.schema, [JSON.stringify(format?.value)], {
        checks: impatient(),
      });
      clearInterval(timer);
      expect(owed.join(' ')).toMatch(
        /^⚙️ Could not check whether the model’s answer fits the response format.* took longer than 0\.3 s .* Simplify the schema/,
      );
      expect(scene.model.asked).toHaveLength(1);
      expect(scene.outcome()).toBe('failed');
      // The event loop kept running during the validation.
      expect(turns).toBeGreaterThan(5);
    },
  );

  it('[G16] fails in a resumed turn as well if its validation never ends, and does not block the next message', async () => {
    scene = await openTurnScene({}, { checks: impatient() });
    await scene.write('how many?', { responseFormat: ambiguous?.schema ?? {} });
    await scene.write('and now?');
    scene.model.next(
      { say: JSON.stringify(ambiguous?.value) },
      { say: JSON.stringify(ambiguous?.value) },
      { say: 'Three.' },
    );
    const { lanes } = scene.store;
    Object.assign(scene.store, {
      lanes: { ...lanes, commit: () => Promise.reject(new Error('killed')) },
    });
    const started = await scene.begin();
    await expect(scene.run(started)).rejects.toThrow('killed');
    Object.assign(scene.store, { lanes });
    await scene.store.lanes.release(started.lease);
    await scene.answerNext();
    expect(scene.outcome()).toBe('failed');
    await scene.answerNext();
    const owed = await scene.owed();
    expect(owed[0]).toContain('Could not check');
    expect(owed.at(-1)).toBe('Three.');
  });

  it('[P04] fails with a notice and is not delivered if it is invalid twice', async () => {
    const [notice, ...others] = await ask(FORMAT, ['{"copies": -1}', '{"copies": -2}', GOOD]);
    expect(notice).toMatch(/^⚙️ The model’s answer does not fit the response format/);
    expect(others).toEqual([]);
    expect(scene.model.asked).toHaveLength(2);
    expect(scene.outcome()).toBe('failed');
    // Both answers are charged.
    expect(scene.logged.join()).toContain('"reason":"response-format"');
  });

  it('[P04] is not streamed, unlike an answer in plain text', async () => {
    await ask(FORMAT, ['{"copies": "many"} and so on', GOOD]);
    expect(shown()).toEqual([]);
    await scene.write('and in words?');
    await scene.answerNext();
    expect(shown()).not.toEqual([]);
  });

  it('[P04] may be any JSON object when no schema is given', async () => {
    expect(await ask('json', ['[1, 2]', '{"a_b": "*c* [[reply_to_current]]"}'])).toEqual([
      '{"a_b": "*c* [[reply_to_current]]"}',
    ]);
    expect(scene.model.asked).toHaveLength(2);
  });

  it('[P04] uses the agent’s own format when the message names none', async () => {
    const agent = { ...createAgent('/w', 'Europe/Berlin'), responseFormat: FORMAT };
    expect(await ask(undefined, ['Three.', GOOD], { agent })).toEqual([GOOD]);
  });

  it('[P04] [D03] gets a separate turn, which other messages do not join', async () => {
    scene = await openTurnScene({}, { busy: 'steer' });
    await scene.write('first');
    await scene.write('how many?', { responseFormat: FORMAT });
    await scene.write('last');
    scene.model.next({ say: 'one' }, { say: GOOD }, { say: 'three' });
    for (let turn = 0; turn < 3; turn += 1) await scene.answerNext();
    expect(await scene.owed()).toEqual(['one', GOOD, 'three']);
  });

  it.each([1, 2, 3, 4])(
    '[G16] is not requested again if the process dies after step %i',
    async (number) => {
      const { tool, calls } = createCountingTool('parrot');
      scene = await openTurnScene({}, { tools: [tool] });
      await scene.write('how many?', { responseFormat: FORMAT });
      scene.model.next({ calls: [say('parrot', 'a')] }, { say: 'Three.' }, { say: 'Three!' });
      const { turns } = scene.store;
      let stored = 0;
      const appendStep: typeof turns.appendStep = async (...step) => {
        const result = await turns.appendStep(...step);
        stored += 1;
        if (stored === number) throw new Error('killed');
        return result;
      };
      Object.assign(scene.store, { turns: { ...turns, appendStep } });
      const started = await scene.begin();
      await expect(scene.run(started)).rejects.toThrow('killed');
      Object.assign(scene.store, { turns });
      await scene.store.lanes.release(started.lease);
      await scene.answerNext();
      expect(calls).toHaveLength(1);
      expect(scene.model.asked).toHaveLength(3);
      expect(scene.outcome()).toBe('failed');
    },
  );
});
