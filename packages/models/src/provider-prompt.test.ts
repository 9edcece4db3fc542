import { describe, expect, it } from 'vitest';
import type { ModelRequest } from './chat-model.ts';
import { providerPrompt } from './provider-prompt.ts';

const request: ModelRequest = {
  system: [
    { text: 'identity', stable: true },
    { text: 'rules', stable: true },
    { text: ' ', stable: true },
    { text: 'time', stable: false },
  ],
  messages: [
    { role: 'user', content: 'one' },
    { role: 'user', content: 'two' },
    { role: 'assistant', content: '' },
    { role: 'user', content: 'three' },
  ],
};

describe('the prompt for a provider', () => {
  it.each(['openai-compatible', 'openai'] as const)(
    '[G01] has one system message and roles that take turns: %s',
    (provider) => {
      expect(providerPrompt(provider, request)).toEqual([
        { role: 'system', content: 'identity\n\nrules\n\ntime' },
        { role: 'user', content: [{ type: 'text', text: 'one\n\ntwo\n\nthree' }] },
      ]);
    },
  );

  it('[G01] marks the last stable layer for the cache of Anthropic, and no other', () => {
    const cacheControl = { type: 'ephemeral' };
    expect(providerPrompt('anthropic', request).slice(0, 3)).toEqual([
      { role: 'system', content: 'identity' },
      { role: 'system', content: 'rules', providerOptions: { anthropic: { cacheControl } } },
      { role: 'system', content: 'time' },
    ]);
  });

  it('[F10] shows pictures before the words about them, also when messages are joined', () => {
    const picture = (byte: number) =>
      ({ mimeType: 'image/png', bytes: Uint8Array.of(byte) }) as const;
    const messages: ModelRequest['messages'] = [
      { role: 'user', content: '', images: [picture(1)] },
      { role: 'user', content: 'what is that?', images: [picture(2)] },
    ];
    const shown = (byte: number) => ({
      type: 'file',
      mediaType: 'image/png',
      data: { type: 'data', data: Uint8Array.of(byte) },
    });
    expect(providerPrompt('openai', { system: [], messages })).toEqual([
      { role: 'user', content: [shown(1), shown(2), { type: 'text', text: 'what is that?' }] },
    ]);
  });

  it('has no system message when there are no layers', () => {
    const prompt = providerPrompt('openai-compatible', { ...request, system: [] });
    expect(prompt.map((message) => message.role)).toEqual(['user']);
  });
});
