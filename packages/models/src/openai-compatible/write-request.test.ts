import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ModelRequest } from '../chat-model.ts';
import { createRequestWriter } from './write-request.ts';

const write = createRequestWriter('m');
const read = (bytes: Uint8Array): Record<string, unknown> =>
  JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
const bodyOf = (request: Partial<ModelRequest>, writer = write) =>
  read(writer({ system: [], messages: [], ...request }));
const messagesOf = (messages: ModelRequest['messages']) => bodyOf({ messages }).messages;

describe('a request to an OpenAI-compatible server', () => {
  it('[G01] streams, asks for token counts, has one system message, and its roles alternate', () => {
    const request: Partial<ModelRequest> = {
      system: [
        { text: 'identity', stable: true },
        { text: ' ', stable: true },
        { text: 'time', stable: false },
      ],
      messages: [
        { role: 'user', content: 'one' },
        { role: 'user', content: 'two' },
        { role: 'assistant', content: '' },
        { role: 'user', content: 'three' },
      ],
      maxOutputTokens: 5,
    };
    expect(bodyOf(request)).toEqual({
      model: 'm',
      max_tokens: 5,
      stream: true,
      stream_options: { include_usage: true },
      messages: [
        { role: 'system', content: 'identity\n\ntime' },
        { role: 'user', content: 'one\n\ntwo\n\nthree' },
      ],
    });
  });

  it('[G01] omits the system message if there are no layers, and the list of tools if there are no tools', () => {
    expect(Object.keys(bodyOf({ messages: [{ role: 'user', content: 'hi' }] }))).not.toContain(
      'tools',
    );
    expect(messagesOf([{ role: 'user', content: 'hi' }])).toEqual([
      { role: 'user', content: 'hi' },
    ]);
  });

  it('[F10] puts pictures before the text about them, as data URLs', () => {
    const images = [
      { mimeType: 'image/png', bytes: Uint8Array.of(0, 1, 2, 3).subarray(1) } as const,
    ];
    const picture = { type: 'image_url', image_url: { url: 'data:image/png;base64,AQID' } };
    expect(messagesOf([{ role: 'user', content: 'what is it?', images }])).toEqual([
      { role: 'user', content: [picture, { type: 'text', text: 'what is it?' }] },
    ]);
    expect(messagesOf([{ role: 'user', content: '', images }])).toEqual([
      { role: 'user', content: [picture] },
    ]);
  });

  it('[G01] contains calls and their results; arguments that are not an object are replaced by an empty object', () => {
    const toolCalls = [
      { id: 'c1', name: 'read', arguments: '{"path":"a.md"}', signature: 'thought' },
      { id: 'c2', name: 'read', arguments: '{"path":' },
    ];
    const call = (id: string, given: string) => ({
      id,
      type: 'function',
      function: { name: 'read', arguments: given },
    });
    expect(
      messagesOf([
        { role: 'assistant', content: '', toolCalls },
        { role: 'tool', callId: 'c1', name: 'read', content: 'parrots' },
        { role: 'tool', callId: 'c2', name: 'read', content: 'no JSON', failed: true },
        { role: 'assistant', content: 'Done.' },
      ]),
    ).toEqual([
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          {
            ...call('c1', '{"path":"a.md"}'),
            extra_content: { google: { thought_signature: 'thought' } },
          },
          call('c2', '{}'),
        ],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'parrots' },
      { role: 'tool', tool_call_id: 'c2', content: 'no JSON' },
      { role: 'assistant', content: 'Done.' },
    ]);
  });

  it('[G01] contains additional fields from the settings, which do not replace its own', () => {
    const usual = { temperature: 0.2, stream_options: { include_usage: false } };
    const options = { ...usual, messages: [], tools: [], model: 'x', stream: false };
    const messages = [{ role: 'user', content: 'hi' }] as const;
    expect(bodyOf({ messages }, createRequestWriter('m', options))).toEqual({
      ...usual,
      model: 'm',
      stream: true,
      messages,
    });
  });

  it('[G20] has the same bytes whether or not its parts were sent before, and no chat template tokens (P18)', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('<|im_start|>', '[INST]', '<s>', 'é你😀', '\ud800', '"\\'),
    );
    const requests = fc.record({
      system: fc.array(fc.record({ text, stable: fc.boolean() }), { maxLength: 4 }),
      messages: fc.array(fc.record({ role: fc.constant('user' as const), content: text }), {
        maxLength: 3,
      }),
      tools: fc.array(
        fc.record({
          name: text,
          description: text,
          inputSchema: fc.dictionary(text, text),
        }),
        { maxLength: 3 },
      ),
    });
    const kept = createRequestWriter('m');
    fc.assert(
      fc.property(requests, (request) => {
        const first = kept(request);
        expect(kept(request)).toEqual(first);
        expect(createRequestWriter('m')(structuredClone(request))).toEqual(first);
        const written = JSON.stringify(read(first));
        for (const token of ['<|im_start|>', '[INST]', '<s>', '\\ud800']) {
          expect(written).not.toContain(token);
        }
      }),
    );
  });

  it('[P18] recognizes parts that it has already serialized by their text, not by their position', () => {
    const system = (...texts: string[]) => texts.map((text) => ({ text, stable: true }));
    expect(bodyOf({ system: system('a', 'b') }).messages).toEqual([
      { role: 'system', content: 'a\n\nb' },
    ]);
    expect(bodyOf({ system: system('b', 'c', 'a') }).messages).toEqual([
      { role: 'system', content: 'b\n\nc\n\na' },
    ]);
  });

  it('[G20] evicts the oldest layers from its cache, and serializes them again', () => {
    const writer = createRequestWriter('m');
    const ask = (text: string) => bodyOf({ system: [{ text, stable: true }] }, writer).messages;
    for (let nth = 0; nth < 300; nth += 1) ask(`layer ${nth} ${'x'.repeat(20_000)}`);
    expect(ask('layer 0')).toEqual([{ role: 'system', content: 'layer 0' }]);
  });
});
