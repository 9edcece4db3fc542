import { estimateTokens } from '@parley/workspace';
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

it.each([
  ['Latin', 'x'],
  ['Chinese', '鸟'],
])('[G11] fits a small model, however much %s was said at once', async (_script, character) => {
  const model = scriptedModel();
  model.next({ say: `# Facts\n${`- ${character.repeat(400)}\n`.repeat(40)}` });
  const room = 4_096;
  const entries = ['user', 'assistant'] as const;
  const { summary } = await writeSummary(
    { model, clock: () => 0, meter: { count() {}, observe() {} } },
    {
      before: { remembered: [], openTasks: [], decisions: [], facts: ['a'], tone: [] },
      entries: entries.map((role, seq) => ({
        seq,
        at: 0,
        role,
        content: { text: character.repeat(50_000) },
      })),
      room,
    },
    new AbortController().signal,
  );
  const [asked] = model.asked;
  const sent = [
    ...(asked?.system ?? []).map(({ text }) => text),
    ...(asked?.messages ?? []).map(({ content }) => content),
  ];
  const size = sent.reduce((sum, text) => sum + estimateTokens(text), 0);
  expect(size + (asked?.maxOutputTokens ?? 0)).toBeLessThan(room);
  expect(estimateTokens(summary.facts.join(''))).toBeLessThanOrEqual(room / 8);
});
