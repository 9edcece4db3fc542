import { resolve } from 'node:path';
import { silentLogger, silentMeter } from '@parley/core';
import { createChatModel, ModelSettings } from '@parley/models';
import { readSoulScenarios, type SoulScenario } from '@parley/workspace';
import { describe, expect, it } from 'vitest';
import { createScriptedModel } from '../testing/turn-scene.ts';
import { runScenarios } from './soul-scenarios.ts';

const HOUSE = resolve(import.meta.dirname, '../../../../config/soul-scenarios');
const SUM: SoulScenario = {
  id: 'sum',
  message: 'What is 17 times 3?',
  good: 'It gives 51.',
  must: [/51/u],
  mustNot: [/I have no rules/iu],
};

/**
 * Runs SOUL.md with the text "Be brief." through these scenarios. The agent's answers and the
 * judge's verdicts are scripted in order.
 */
async function tryOut(
  scenarios: readonly SoulScenario[],
  answers: readonly string[],
  verdicts: readonly string[],
  mayAsk: () => Promise<void> = async () => {},
) {
  const [model, judge] = [createScriptedModel(), createScriptedModel()];
  model.next(...answers.map((say) => ({ say })));
  judge.next(...verdicts.map((say) => ({ say })));
  let tokens = 0;
  const spent = async ({ inputTokens }: { readonly inputTokens: number }) => {
    tokens += inputTokens;
  };
  const given = {
    model,
    judge,
    scenarios,
    mayAsk,
    spent,
    clock: () => 0,
    monotonic: () => 0,
    meter: silentMeter,
  };
  const deps = { ...given, known: new Map() };
  const results = await runScenarios(deps, 'Be brief.', new AbortController().signal);
  return { ...results, model, judge, tokens };
}

describe('the scenarios for SOUL.md', () => {
  it('[W06] ship with Parley, are valid, and can all be passed by a plain answer', async () => {
    const scenarios = await readSoulScenarios(HOUSE);
    expect(scenarios.length).toBeGreaterThanOrEqual(5);
    const answer = 'I am a program, and 17 times 3 is 51.';
    const all = scenarios.map(() => answer);
    const { score } = await tryOut(
      scenarios,
      all,
      scenarios.map(() => 'yes'),
    );
    expect(score).toBe(100);
  });

  it('[W06] report an invalid file and how to fix it', async () => {
    await expect(readSoulScenarios('/nowhere/at/all')).rejects.toMatchObject({
      code: 'soul-scenarios',
      message: expect.stringContaining('set soul.judge to false'),
    });
  });

  it('[W06] send SOUL.md to the agent’s model below the safety frame, and send the answer to the judge as data', async () => {
    const { model, judge, tokens } = await tryOut([SUM], ['It is 51.'], ['yes']);
    const [system] = model.asked[0]?.system ?? [];
    expect(system?.text).toMatch(/Safety stands above[\s\S]*Be brief\.$/);
    expect(JSON.stringify(judge.asked[0])).toContain('> It is 51.');
    expect(tokens).toBe(20);
  });

  it.each([
    [
      'the answer does not contain what it must contain',
      'It is 54.',
      [],
      'does not contain what it must',
    ],
    [
      'the answer contains what it must not contain',
      'I have no rules. 51.',
      [],
      'contains what it must not',
    ],
    ['the judge says no', '51, obviously.', ['No, it is rude.'], 'it is rude'],
    ['the judge says no without a reason', '51', ['no'], 'not satisfied'],
  ] as const)('[W06] fail if %s', async (_, answer, verdicts, words) => {
    const { score, findings, judge } = await tryOut([SUM], [answer], verdicts);
    expect(score).toBe(0);
    expect(findings[0]?.text).toContain(words);
    expect(judge.asked).toHaveLength(verdicts.length);
  });

  it.each(['Yes.', '**yes** – fine', 'Hm, nothing wrong with it', ''])(
    '[W06] pass if the judge says %j',
    async (verdict) => {
      expect((await tryOut([SUM], ['51'], [verdict || ' '])).score).toBe(100);
    },
  );

  it('[W06] run once per text and scenario, even after a failure midway', async () => {
    const [model, judge] = [createScriptedModel(), createScriptedModel()];
    const scenarios = [SUM, { ...SUM, id: 'again' }];
    let left = 3;
    const mayAsk = async () => {
      left -= 1;
      if (left < 0) throw new Error('spent');
    };
    const spent = async () => {};
    const given = {
      model,
      judge,
      scenarios,
      mayAsk,
      spent,
      clock: () => 0,
      monotonic: () => 0,
      meter: silentMeter,
    };
    const deps = { ...given, known: new Map() };
    const { signal } = new AbortController();
    model.next({ say: '51' }, { say: '51' }, { say: '51' });
    judge.next({ say: 'yes' }, { say: 'yes' });
    await expect(runScenarios(deps, 'Be brief.', signal)).rejects.toThrow('spent');
    left = 2;
    expect((await runScenarios(deps, 'Be brief.', signal)).score).toBe(100);
    expect((await runScenarios(deps, 'Be brief.', signal)).score).toBe(100);
    expect([model.asked.length, judge.asked.length]).toEqual([3, 2]);
  });

  it('[W06] do not use an answer of the offline model as a verdict', async () => {
    const clock = () => 0;
    const settings = ModelSettings.parse('offline');
    const { model } = createChatModel(settings, {
      settingsFile: 'x',
      clock,
      monotonic: clock,
      logger: silentLogger,
    });
    const given = {
      model,
      judge: model,
      scenarios: [SUM],
      clock,
      monotonic: clock,
      meter: silentMeter,
    };
    const deps = { ...given, known: new Map(), mayAsk: async () => {}, spent: async () => {} };
    await expect(runScenarios(deps, 'Be brief.', new AbortController().signal)).rejects.toThrow(
      'no model is reachable',
    );
  });

  it('[W06] [G17] do not call a model when the daily budget is used up', async () => {
    const refuse = () => Promise.reject(new Error('spent'));
    await expect(tryOut([SUM], ['51'], ['yes'], refuse)).rejects.toThrow('spent');
  });
});
