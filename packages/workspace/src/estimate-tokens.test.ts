import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { estimateTokens, quarterTokens } from './estimate-tokens.ts';

describe('the estimate of tokens', () => {
  it.each([
    ['', 0],
    ['word', 1],
    ['words', 2],
    ['天气', 2],
    ['👍🏽', 2],
    ['\ud83d\ud83d', 2],
    ['\udc4d\udc4d', 2],
  ])('[S10] of %j is %i', (text, tokens) => {
    expect(estimateTokens(text)).toBe(tokens);
  });

  it('[S10] counts characters and not their halves', () => {
    const halves = fc.constantFrom('a', 'ü', '天', '😀', '\ud83d', '\udc4d');
    fc.assert(
      fc.property(fc.string({ unit: halves }), (text) => {
        const characters = [...text].map((one) => ((one.codePointAt(0) ?? 0) > 0x24f ? 4 : 1));
        expect(quarterTokens(text)).toBe(characters.reduce((sum, each) => sum + each, 0));
      }),
    );
  });
});
