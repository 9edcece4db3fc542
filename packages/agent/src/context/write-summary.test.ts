import { expect, it } from 'vitest';
import { scriptedModel } from '../testing/scripted-model.ts';
import { writeSummary } from './write-summary.ts';

it('[G17] what a summary has used is counted, also where the model wrote none', async () => {
  const model = scriptedModel();
  const counted: number[] = [];
  const deps = {
    model,
    clock: () => 0,
    meter: { count() {}, observe() {} },
    charge: async ({ inputTokens }: { inputTokens: number }) => void counted.push(inputTokens),
  };
  const entry = { seq: 1, at: 0, role: 'user', content: { text: 'hello' } } as const;
  const write = () =>
    writeSummary(deps, { before: null, entries: [entry] }, new AbortController().signal);
  model.next({ say: '# Facts\n- They said hello.' }, { say: '# Facts' });
  await write();
  await expect(write()).rejects.toThrow('no summary');
  expect(counted).toEqual([10, 10]);
});
