import { beforeEach, describe, expect, it } from 'vitest';
import type { HookAnswer, HookRules, Hooks } from './hooks.ts';
import { operations } from './operations.ts';

const CALL = { caller: { name: 'Ann', role: 'owner' } } as const;
const RULES: HookRules = {
  ...{ token: 't', action: 'job', target: 'last', signature: false },
  ...{ perMinute: 3, maxBytes: 1_000, maxCharacters: 1_000 },
};
const VIEW = { action: 'job', target: 'last', events: [] } as const;

let answer: HookAnswer;
let seen: unknown[];
beforeEach(() => {
  answer = { kind: 'taken', id: 'hook_ci_1', isNew: true };
  seen = [];
});

const needs = {
  defaultAgent: 'main',
  hooks: async (): Promise<Hooks> => ({
    rules: { ci: RULES },
    async take(...event) {
      seen.push(event);
      return answer;
    },
    list: async () => [
      { name: 'ci', ...VIEW },
      { name: 'desk', ...VIEW, agent: 'support' },
    ],
    count: (outcome, hook) => void seen.push([outcome, hook]),
  }),
};
const test = (name: string) => operations.test.run(needs, { name, body: '{}' }, CALL);

describe('hooks on the page and the command line', () => {
  it('[H09] can be tested without their token', async () => {
    expect(await test('ci')).toMatchObject({ id: 'hook_ci_1' });
    expect(seen).toEqual([
      ['ci', { contentType: '', body: '{}' }],
      ['test', 'ci'],
    ]);
  });

  it('[H09] refuse an event for an unknown name', async () => {
    await expect(test('toString')).rejects.toThrow('There is no hook with that name.');
    expect(seen).toEqual([]);
  });

  it('[H09] report why an event is refused', async () => {
    answer = { kind: 'full', reason: '100 events are already waiting' };
    await expect(test('ci')).rejects.toThrow('Not taken: 100 events are already waiting.');
  });

  it.each([
    [undefined, ['ci', 'desk']],
    ['main', ['ci']],
    ['support', ['desk']],
  ])('[F14] are listed for the agent %s: %j', async (agent, names) => {
    const { hooks } = await operations.list.run(needs, {}, { ...CALL, agent });
    expect(hooks.map(({ name }) => name)).toEqual(names);
  });
});
