import { describe, expect, it } from 'vitest';
import { getCachedShare } from './cached-share.ts';

const price = (cachedInputPerMillion?: number, inputPerMillion = 2) => ({
  ...{ inputPerMillion, outputPerMillion: 8 },
  ...(cachedInputPerMillion !== undefined && { cachedInputPerMillion }),
});

describe('the weight of a cached input token', () => {
  it.each([
    ['as the settings say', 'openai', 'gpt-4o', price(0.5), 0.25],
    ['never more than an uncached one', 'openai-compatible', 'x', price(9), 1],
    ['nothing, if the settings say so', 'openai-compatible', 'x', price(0), 0],
    ['as its maker charges, when the price says nothing', 'anthropic', 'any', price(), 0.1],
    ['as its maker charges, when input is free', 'openai-compatible', 'x', price(0, 0), 0.5],
    ['as its maker charges', 'openai', 'gpt-5-mini', undefined, 0.1],
    ['as its maker charges', 'openai', 'gpt-4.1', undefined, 0.25],
    ['as its maker charges', 'openai', 'o4-mini', undefined, 0.25],
    ['as its maker charges', 'openai', 'gpt-4o-mini', undefined, 0.5],
    [
      'as its maker charges, behind a router',
      'openai-compatible',
      'anthropic/claude-x',
      undefined,
      0.1,
    ],
    ['a half, when nothing is known', 'openai-compatible', 'llama', undefined, 0.5],
  ] as const)('[G17] is %s: %s/%s', (_title, provider, model, price, share) => {
    expect(getCachedShare({ provider, model, ...(price && { price }) })).toBe(share);
  });
});
