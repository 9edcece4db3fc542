import { describe, expect, it } from 'vitest';
import { computeCost, countUsage } from './chat-model.ts';

const request = {
  system: [{ text: 'x'.repeat(30), stable: true }],
  messages: [{ role: 'user', content: 'y'.repeat(11) } as const],
};
const reported = (input?: number, output?: number, cached?: number) => ({
  inputTokens: { total: input, cacheRead: cached },
  outputTokens: { total: output },
});

describe('the tokens of a call', () => {
  it('[G17] are the counts that the provider reports', () => {
    expect(countUsage(reported(100, 20, 60), request, 5)).toEqual({
      inputTokens: 100,
      outputTokens: 20,
      cachedInputTokens: 60,
      estimated: false,
    });
  });

  it.each([
    ['nothing', reported()],
    ['zeros', reported(0, 0, 0)],
  ])(
    '[G17] are estimated as a quarter of the characters, and marked as estimated, if the provider reports %s',
    (_name, counts) => {
      expect(countUsage(counts, request, 5)).toEqual({
        inputTokens: 11,
        outputTokens: 2,
        cachedInputTokens: 0,
        estimated: true,
      });
    },
  );

  it('[F10] include a thousand for each picture if they are estimated', () => {
    const images = [{ mimeType: 'image/png', bytes: Uint8Array.of(1) } as const];
    const messages = [{ role: 'user', content: '', images } as const];
    const usage = countUsage(reported(), { system: [], messages }, 5);
    expect(usage.inputTokens).toBe(1_000);
  });

  it('[G17] keep the reported count if the other count is missing', () => {
    const usage = countUsage(reported(100, undefined), request, 5);
    expect(usage).toMatchObject({ inputTokens: 100, outputTokens: 2, estimated: true });
  });
});

describe('the cost of a call', () => {
  const usage = { inputTokens: 1_000, outputTokens: 200, cachedInputTokens: 400, estimated: false };

  it('[G17] is unknown without a price, not zero', () => {
    expect(computeCost(usage, undefined)).toBeNull();
  });

  it('[G17] counts input and output at their prices per million', () => {
    expect(computeCost(usage, { inputPerMillion: 3, outputPerMillion: 15 })).toBeCloseTo(0.006, 10);
  });

  it('[G17] counts cached input at its own price if there is one', () => {
    const price = { inputPerMillion: 3, outputPerMillion: 15, cachedInputPerMillion: 0.3 };
    expect(computeCost(usage, price)).toBeCloseTo(0.00492, 10);
  });
});
