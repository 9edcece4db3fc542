import { expect, it } from 'vitest';
import { createAiSdkClient } from './ai-sdk-client.ts';
import type { AnswerPart } from './answer-parts.ts';

const EVENTS = [
  { type: 'message_start', message: { id: 'm', model: 'claude-1', usage: { input_tokens: 10 } } },
  { type: 'ping' },
  { type: 'ping' },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'max_tokens' }, usage: { output_tokens: 1 } },
  { type: 'message_stop' },
];

it('[G21] treats each event from Anthropic as activity, and reports Anthropic’s finish reason and the model that answered', async () => {
  const text = EVENTS.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
  const fetch = async () =>
    new Response(text, { headers: { 'content-type': 'text/event-stream' } });
  const choice = { provider: 'anthropic', apiKey: 'k', model: 'claude' } as const;
  const request = { system: [], messages: [{ role: 'user', content: 'hi' } as const] };
  const parts: AnswerPart[] = [];
  const stream = createAiSdkClient(choice, fetch).stream(request, new AbortController().signal);
  for await (const part of stream) parts.push(part);
  expect(parts.filter(({ type }) => type === 'alive')).toHaveLength(EVENTS.length);
  expect(parts.filter(({ type }) => type !== 'alive')).toEqual([
    { type: 'text', text: 'Hi' },
    expect.objectContaining({
      type: 'finish',
      reason: 'length',
      rawReason: 'max_tokens',
      servedModel: 'claude-1',
    }),
  ]);
});
