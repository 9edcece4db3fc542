import { describe, expect, it } from 'vitest';
import { ModelSettings } from './model-settings.ts';

const local = { provider: 'openai-compatible', baseUrl: 'http://127.0.0.1:11434/v1', model: 'm' };

const timeouts = { firstTokenMs: 60_000, chunkMs: 60_000, totalMs: 600_000 };

describe('the model settings', () => {
  it.each([undefined, 'auto', { provider: 'auto' }])(
    '[G01] choose automatically when %j is written',
    (written) => {
      expect(ModelSettings.parse(written)).toEqual({ model: 'auto', fallback: [], timeouts });
    },
  );

  it('[G01] take any of the three providers, with fallbacks and prices', () => {
    const fallback = [{ provider: 'openai', apiKey: 'k', model: 'gpt' }, local, 'offline'];
    const claude = { provider: 'anthropic', apiKey: 'k', model: 'claude' };
    expect(ModelSettings.parse({ ...claude, fallback })).toEqual({
      model: claude,
      fallback,
      timeouts,
    });
  });

  it.each([
    ['a paid provider without a key', { provider: 'openai', model: 'gpt' }],
    ['an unknown provider', { provider: 'acme', apiKey: 'k', model: 'm' }],
    ['an unknown word', 'gpt'],
    ['a misspelt field', { ...local, modle: 'x' }],
    ['an address that is no web address', { ...local, baseUrl: 'file:///etc/passwd' }],
    ['a fallback that could never be asked', { provider: 'auto', fallback: [local] }],
    ['a wait longer than fetch keeps', { ...local, timeouts: { firstTokenMs: 300_001 } }],
  ])('refuse %s', (_name, settings) => {
    expect(ModelSettings.safeParse(settings).success).toBe(false);
  });
});
