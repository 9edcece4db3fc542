import type { ModelMessage } from '@parley/models';
import { estimateTokens } from '@parley/workspace';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fitRounds } from './history-budget.ts';

const step: ModelMessage = {
  role: 'assistant',
  content: '',
  toolCalls: [{ id: '1', name: 'read', arguments: '{}' }],
};
const result = (content: string): ModelMessage => ({
  role: 'tool',
  callId: '1',
  name: 'read',
  content,
  failed: false,
});
const contents = (messages: readonly ModelMessage[]) => messages.map(({ content }) => content);
const tokens = (messages: readonly ModelMessage[]) =>
  contents(messages).reduce((sum, text) => sum + estimateTokens(text), 0);

describe('what a turn has done so far', () => {
  it('[G11] stays as it is where there is room, and where nobody knows how much', () => {
    const all = [step, result('x'.repeat(4_000))];
    expect(fitRounds(all, 1_100)).toBe(all);
    expect(fitRounds(all, Number.POSITIVE_INFINITY)).toBe(all);
  });

  it('[G11] [P10] has its longest results cut, and says so; short ones stay whole', () => {
    const all = [
      step,
      result('short'),
      step,
      result('x'.repeat(40_000)),
      result('y'.repeat(8_000)),
    ];
    const [, short, , long, other] = contents(fitRounds(all, 2_000));
    expect(short).toBe('short');
    expect(long).toMatch(/^x+\n\n\[Cut: the first [\d,]+ of 40,000 characters of this result/);
    expect(other).toMatch(/^y+\n\n\[Cut/);
  });

  it('[P18] keeps the line that ends a frame around foreign text', () => {
    const framed = `<<<data 4711\n${'x'.repeat(40_000)}\n>>>data 4711`;
    const [text = ''] = contents(fitRounds([result(framed)], 1_000));
    expect(text.startsWith('<<<data 4711\nx')).toBe(true);
    expect(text.endsWith(' are shown.]\n>>>data 4711')).toBe(true);
  });

  it('[G11] is about as long as there is room, whatever the tools gave back', () => {
    const texts = fc.array(fc.nat(30_000), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(texts, fc.integer({ min: 1_500, max: 8_000 }), (lengths, budget) => {
        const all = lengths.flatMap((length) => [step, result('z'.repeat(length))]);
        // The notices come on top.
        expect(tokens(fitRounds(all, budget))).toBeLessThanOrEqual(budget + 30 * lengths.length);
      }),
    );
  });
});
