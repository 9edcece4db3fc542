import { describe, expect, it } from 'vitest';
import { getContextTokens, ModelSettings } from './model-settings.ts';

const local = { provider: 'openai-compatible', baseUrl: 'http://127.0.0.1:11434/v1', model: 'm' };

const timeouts = { firstTokenMs: 60_000, chunkMs: 60_000, totalMs: 600_000 };

describe('the model settings', () => {
  it.each([undefined, 'auto', { provider: 'auto' }])(
    '[G01] use the automatic choice for %j',
    (written) => {
      expect(ModelSettings.parse(written)).toEqual({
        model: 'auto',
        fallback: [],
        choices: [],
        timeouts,
      });
    },
  );

  it('[G01] accept any of the three providers, with fallbacks and prices', () => {
    const fallback = [{ provider: 'openai', apiKey: 'k', model: 'gpt' }, local, 'offline'];
    const claude = { provider: 'anthropic', apiKey: 'k', model: 'claude' };
    expect(ModelSettings.parse({ ...claude, fallback })).toEqual({
      model: claude,
      fallback,
      choices: [],
      timeouts,
    });
  });

  it('[F09] accept a list of models to choose from, in which a name alone is a model of the main provider with its own price', () => {
    const price = { inputPerMillion: 3, outputPerMillion: 15 };
    const claude = { provider: 'anthropic', apiKey: 'k', model: 'claude', price };
    expect(ModelSettings.parse({ ...claude, choices: ['small', local] }).choices).toEqual([
      { provider: 'anthropic', apiKey: 'k', model: 'small' },
      local,
    ]);
  });

  it('[G20] accept further request fields for compatible servers, one level deep', () => {
    const provider = { order: ['a', 'b'], allow_fallbacks: false };
    const options = { temperature: 0.3, stop: ['END'], provider };
    expect(ModelSettings.parse({ ...local, options }).model).toMatchObject({ options });
    expect(ModelSettings.safeParse({ ...local, options: { a: { b: { c: 1 } } } }).success).toBe(
      false,
    );
  });

  it.each([
    ['a paid provider without a key', { provider: 'openai', model: 'gpt' }],
    ['an unknown provider', { provider: 'acme', apiKey: 'k', model: 'm' }],
    ['an unknown word', 'gpt'],
    ['a misspelt field', { ...local, modle: 'x' }],
    ['an invalid URL', { ...local, baseUrl: 'file:///etc/passwd' }],
    ['a fallback that could never be asked', { provider: 'auto', fallback: [local] }],
    ['a deadline longer than fetch allows', { ...local, timeouts: { firstTokenMs: 300_001 } }],
  ])('refuse a configuration with %s', (_name, settings) => {
    expect(ModelSettings.safeParse(settings).success).toBe(false);
  });
});

const compatible = (baseUrl: string, more = {}) =>
  ModelSettings.parse({ provider: 'openai-compatible', baseUrl, model: 'm', ...more });
const REMOTE = 'https://llm.example.org/v1';

describe('the context window of a model', () => {
  it.each([
    ['as the settings say', compatible(REMOTE, { contextTokens: 65_536 }), 'x/claude', 65_536],
    ['by its family', compatible(REMOTE), 'openai-compatible/claude-sonnet-4-5', 200_000],
    ['by its family', compatible(REMOTE), 'openai/gpt-4o-mini', 128_000],
    ['by its family', compatible(REMOTE), 'openai/o3', 200_000],
    ['by its family, behind a proxy', compatible('http://127.0.0.1:4000/v1'), 'x/gpt-4o', 128_000],
    ['small when nobody knows', compatible(REMOTE), 'openai-compatible/m', 32_768],
    ['smaller on a local server', compatible('http://127.0.0.1:11434/v1'), 'local/m', 8_192],
    ['smaller on a local server', compatible('http://192.168.1.9:8000/v1'), 'local/m', 8_192],
    ['smaller when it is found automatically', ModelSettings.parse('auto'), 'local/llama', 8_192],
    [
      'as the settings say, also then',
      ModelSettings.parse({ provider: 'auto', contextTokens: 16_384 }),
      'local/llama',
      16_384,
    ],
  ])('[G11] is determined: %s', (_how, settings, id, tokens) => {
    expect(getContextTokens(settings, id)).toBe(tokens);
  });
});
