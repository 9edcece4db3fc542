import { describe, expect, it } from 'vitest';
import { toProviderPrompt } from './ai-sdk.ts';
import type { ModelRequest } from './chat-model.ts';

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
  it('[G01] has one system message, and roles alternate', () => {
    expect(toProviderPrompt('openai', request)).toEqual([
      { role: 'system', content: 'identity\n\nrules\n\ntime' },
      { role: 'user', content: [{ type: 'text', text: 'one\n\ntwo\n\nthree' }] },
    ]);
  });

  it("[G01] marks only the last stable layer for Anthropic's cache", () => {
    const cacheControl = { type: 'ephemeral' };
    expect(toProviderPrompt('anthropic', request).slice(0, 3)).toEqual([
      { role: 'system', content: 'identity' },
      { role: 'system', content: 'rules', providerOptions: { anthropic: { cacheControl } } },
      { role: 'system', content: 'time' },
    ]);
  });

  it('[F10] puts pictures before the text about them, even when messages are joined', () => {
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
    expect(toProviderPrompt('openai', { system: [], messages })).toEqual([
      { role: 'user', content: [shown(1), shown(2), { type: 'text', text: 'what is that?' }] },
    ]);
  });

  it('[G01] contains calls and their results; arguments that are not an object are replaced by an empty object', () => {
    const toolCalls = [
      { id: 'c1', name: 'read', arguments: '{"path":"a.md"}', signature: 'thought' },
      { id: 'c2', name: 'read', arguments: '{"path":' },
    ];
    const messages: ModelRequest['messages'] = [
      { role: 'user', content: 'compare' },
      { role: 'assistant', content: '', toolCalls },
      { role: 'tool', callId: 'c1', name: 'read', content: 'parrots' },
      { role: 'tool', callId: 'c2', name: 'read', content: 'no JSON', failed: true },
      { role: 'assistant', content: 'Done.' },
    ];
    const call = { type: 'tool-call', toolName: 'read' };
    const result = { type: 'tool-result', toolName: 'read' };
    const providerOptions = { google: { thoughtSignature: 'thought' } };
    expect(toProviderPrompt('anthropic', { system: [], messages }).slice(1)).toEqual([
      {
        role: 'assistant',
        content: [
          { ...call, toolCallId: 'c1', input: { path: 'a.md' }, providerOptions },
          { ...call, toolCallId: 'c2', input: {} },
        ],
      },
      {
        role: 'tool',
        content: [{ ...result, toolCallId: 'c1', output: { type: 'text', value: 'parrots' } }],
      },
      {
        role: 'tool',
        content: [
          { ...result, toolCallId: 'c2', output: { type: 'error-text', value: 'no JSON' } },
        ],
      },
      { role: 'assistant', content: [{ type: 'text', text: 'Done.' }] },
    ]);
  });

  it("[G01] keeps text written after a call after the call's result", () => {
    const messages: ModelRequest['messages'] = [
      { role: 'user', content: 'q' },
      { role: 'assistant', content: 'a' },
      { role: 'assistant', content: 'b', toolCalls: [{ id: 'c', name: 't', arguments: '' }] },
      { role: 'tool', callId: 'c', name: 't', content: '' },
    ];
    const [, assistant, tool] = toProviderPrompt('openai', { system: [], messages });
    expect(assistant?.content).toMatchObject([{ text: 'a\n\nb' }, { type: 'tool-call' }]);
    expect(tool?.role).toBe('tool');
  });

  it('has no system message if there are no layers', () => {
    const prompt = toProviderPrompt('openai', { ...request, system: [] });
    expect(prompt.map((message) => message.role)).toEqual(['user']);
  });
});
