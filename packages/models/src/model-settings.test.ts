import { describe, expect, it } from 'vitest';
import { ModelSettings } from './model-settings.ts';

const local = { provider: 'openai-compatible', baseUrl: 'http://127.0.0.1:11434/v1', model: 'm' };

describe('the model settings', () => {
  it('[G01] choose automatically and wait 60 s for the first token when nothing is written', () => {
    expect(ModelSettings.parse({})).toEqual({
      model: 'auto',
      fallback: [],
      timeouts: { firstTokenMs: 60_000, chunkMs: 60_000, totalMs: 600_000 },
    });
  });

  it('[G01] take any of the three providers, with fallbacks and prices', () => {
    const settings = {
      model: { provider: 'anthropic', apiKey: 'k', model: 'claude' },
      fallback: [{ provider: 'openai', apiKey: 'k', model: 'gpt' }, local, 'offline'],
    };
    expect(ModelSettings.parse(settings)).toMatchObject(settings);
  });

  it.each([
    ['a paid provider without a key', { model: { provider: 'openai', model: 'gpt' } }],
    ['an unknown provider', { model: { provider: 'acme', apiKey: 'k', model: 'm' } }],
    ['a misspelt field', { model: { ...local, modle: 'x' } }],
    ['an address that is no web address', { model: { ...local, baseUrl: 'file:///etc/passwd' } }],
    ['a fallback that could never be asked', { model: 'auto', fallback: [local] }],
    ['a wait longer than fetch keeps', { timeouts: { firstTokenMs: 300_001 } }],
  ])('refuse %s', (_name, settings) => {
    expect(ModelSettings.safeParse(settings).success).toBe(false);
  });
});
