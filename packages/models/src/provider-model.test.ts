import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { DEFAULT_ANSWER_BOUNDS } from './answer-bounds.ts';
import type { ModelEvent, ModelRequest } from './chat-model.ts';
import { ModelTimeouts, type ProviderChoice } from './model-settings.ts';
import { createProviderModel } from './provider-model.ts';

const request: ModelRequest = {
  system: [
    { text: 'identity', stable: true },
    { text: 'time', stable: false },
  ],
  messages: [{ role: 'user', content: 'hi' }],
  maxOutputTokens: 500,
};

const ANTHROPIC_STREAM = [
  {
    type: 'message_start',
    message: {
      id: 'm1',
      model: 'claude',
      usage: { input_tokens: 10, cache_read_input_tokens: 90, output_tokens: 1 },
    },
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hel' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'lo' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 7 } },
  { type: 'message_stop' },
];
const OPENAI_STREAM = [
  { type: 'response.created', response: { id: 'r1', created_at: 0, model: 'gpt' } },
  { type: 'response.output_item.added', output_index: 0, item: { type: 'message', id: 'i1' } },
  { type: 'response.output_text.delta', item_id: 'i1', delta: 'Hello' },
  { type: 'response.output_item.done', output_index: 0, item: { type: 'message', id: 'i1' } },
  {
    type: 'response.completed',
    response: {
      usage: { input_tokens: 100, input_tokens_details: { cached_tokens: 90 }, output_tokens: 7 },
    },
  },
];

const ANTHROPIC_CALL = [
  ...ANTHROPIC_STREAM.slice(0, 2),
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Let me look.' } },
  { type: 'content_block_stop', index: 0 },
  {
    type: 'content_block_start',
    index: 1,
    content_block: { type: 'tool_use', id: 'call_1', name: 'read', input: {} },
  },
  ...['{"path"', ':"a.md"}'].map((partial_json) => ({
    type: 'content_block_delta',
    index: 1,
    delta: { type: 'input_json_delta', partial_json },
  })),
  { type: 'content_block_stop', index: 1 },
  { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 7 } },
  { type: 'message_stop' },
];
const FUNCTION_CALL = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'read' };
const OPENAI_CALL = [
  ...OPENAI_STREAM.slice(0, 1),
  {
    type: 'response.output_item.added',
    output_index: 0,
    item: { ...FUNCTION_CALL, arguments: '', status: 'in_progress' },
  },
  ...['{"path"', ':"a.md"}'].map((delta) => ({
    type: 'response.function_call_arguments.delta',
    item_id: 'fc_1',
    output_index: 0,
    delta,
  })),
  {
    type: 'response.output_item.done',
    output_index: 0,
    item: { ...FUNCTION_CALL, arguments: '{"path":"a.md"}', status: 'completed' },
  },
  ...OPENAI_STREAM.slice(-1),
];

/** A `fetch` that answers with these events and records the requests. */
function recordedFetch(events: readonly object[]) {
  const asked: { url: string; headers: Headers; body: unknown }[] = [];
  const fetch: typeof globalThis.fetch = async (url, init) => {
    asked.push({
      url: String(url),
      headers: new Headers(init?.headers),
      body: JSON.parse(String(init?.body)),
    });
    const text = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
    return new Response(text, { headers: { 'content-type': 'text/event-stream' } });
  };
  return { fetch, asked };
}

async function ask(choice: ProviderChoice, events: readonly object[], more = request) {
  const { fetch, asked } = recordedFetch(events);
  const init = {
    id: `${choice.provider}/${choice.model}`,
    server: 'api',
    choice,
    timeouts: ModelTimeouts.parse({}),
    bounds: DEFAULT_ANSWER_BOUNDS,
    clock: () => 0,
    fetch,
  };
  const seen: ModelEvent[] = [];
  const model = createProviderModel(init);
  for await (const event of model.stream(more, new AbortController().signal)) seen.push(event);
  return { seen, asked: asked[0] };
}

describe('Anthropic', () => {
  const choice: ProviderChoice = {
    provider: 'anthropic',
    apiKey: 'key-a',
    model: 'claude',
    price: { inputPerMillion: 3, outputPerMillion: 15, cachedInputPerMillion: 0.3 },
  };

  it('[G01] receives one block per layer, with a cache mark on the last stable block', async () => {
    const { asked } = await ask(choice, ANTHROPIC_STREAM);
    expect(asked?.url).toBe('https://api.anthropic.com/v1/messages');
    expect(asked?.headers.get('x-api-key')).toBe('key-a');
    expect(asked?.body).toMatchObject({
      model: 'claude',
      max_tokens: 500,
      stream: true,
      system: [
        { type: 'text', text: 'identity', cache_control: { type: 'ephemeral' } },
        { type: 'text', text: 'time' },
      ],
    });
  });

  it('[G17] returns text, tokens, cached tokens and cost', async () => {
    const { seen } = await ask(choice, ANTHROPIC_STREAM);
    expect(seen).toEqual([
      { type: 'text', text: 'Hel' },
      { type: 'text', text: 'lo' },
      {
        type: 'finish',
        text: 'Hello',
        usage: { inputTokens: 100, outputTokens: 7, cachedInputTokens: 90, estimated: false },
        finishReason: 'stop',
        model: 'anthropic/claude',
        costUsd: expect.closeTo((10 * 3 + 90 * 0.3 + 7 * 15) / 1e6, 12),
      },
    ]);
  });

  it('[G01] explains an overload that is reported inside the stream', async () => {
    const overload = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
    await expect(ask(choice, [overload])).rejects.toMatchObject({ code: 'model-overloaded' });
  });
});

describe('OpenAI', () => {
  const choice: ProviderChoice = { provider: 'openai', apiKey: 'key-o', model: 'gpt-4o' };

  it('[G01] is asked not to store the conversation', async () => {
    const { asked } = await ask(choice, OPENAI_STREAM);
    expect(asked?.url).toBe('https://api.openai.com/v1/responses');
    expect(asked?.headers.get('authorization')).toBe('Bearer key-o');
    expect(asked?.body).toMatchObject({ model: 'gpt-4o', store: false, max_output_tokens: 500 });
  });

  const SCHEMA = { type: 'object', properties: { copies: { type: 'integer' } } } as const;
  it.each([
    ['json', { type: 'json_object' }],
    [SCHEMA, { type: 'json_schema', name: 'answer', strict: false, schema: SCHEMA }],
    [{ type: 'array' }, undefined],
    [undefined, undefined],
  ] as const)('[P04] enforces the response format %j', async (format, sent) => {
    const { asked } = await ask(choice, OPENAI_STREAM, { ...request, ...(format && { format }) });
    expect(Object(asked?.body).text?.format).toEqual(sent);
  });

  it('[G17] returns text and tokens; the cost is unknown without a price', async () => {
    const { seen } = await ask(choice, OPENAI_STREAM);
    expect(seen.at(-1)).toMatchObject({
      text: 'Hello',
      usage: { inputTokens: 100, outputTokens: 7, cachedInputTokens: 90, estimated: false },
      costUsd: null,
    });
  });

  it('[G01] is called at its own address, even if the environment names another address', async () => {
    vi.stubEnv('OPENAI_BASE_URL', 'http://elsewhere.example');
    onTestFinished(() => void vi.unstubAllEnvs());
    const { asked } = await ask(choice, OPENAI_STREAM);
    expect(asked?.url).toBe('https://api.openai.com/v1/responses');
  });
});

describe('a picture', () => {
  const images = [{ mimeType: 'image/png', bytes: Uint8Array.of(1, 2, 3) } as const];
  const picture: ModelRequest = {
    system: [],
    messages: [{ role: 'user', content: 'what is it?', images }],
  };

  it('[F10] is sent to Anthropic as an image block', async () => {
    const choice = { provider: 'anthropic', apiKey: 'k', model: 'claude' } as const;
    const { asked } = await ask(choice, ANTHROPIC_STREAM, picture);
    const source = { type: 'base64', media_type: 'image/png', data: 'AQID' };
    expect(asked?.body).toMatchObject({
      messages: [
        {
          content: [
            { type: 'image', source },
            { type: 'text', text: 'what is it?' },
          ],
        },
      ],
    });
  });

  it('[F10] is sent to OpenAI as a data URL', async () => {
    const choice = { provider: 'openai', apiKey: 'k', model: 'gpt' } as const;
    const { asked } = await ask(choice, OPENAI_STREAM, picture);
    const shown = { type: 'input_image', image_url: 'data:image/png;base64,AQID' };
    expect(asked?.body).toMatchObject({
      input: [{ content: [shown, { type: 'input_text', text: 'what is it?' }] }],
    });
  });
});

describe('a model that calls a tool', () => {
  const schema = { type: 'object', properties: { path: { type: 'string' } } };
  const withTools: ModelRequest = {
    system: [{ text: 'identity', stable: true }],
    messages: [{ role: 'user', content: 'what is in a.md?' }],
    tools: [
      { name: 'list', description: 'Lists.', inputSchema: { type: 'object', properties: {} } },
      { name: 'read', description: 'Reads.', inputSchema: schema },
    ],
  };
  const call = { id: 'call_1', name: 'read', arguments: '{"path":"a.md"}' };
  const finish = { type: 'finish', text: 'Let me look.', finishReason: 'tool-calls' };

  it('[G01] Anthropic: tools are offered with a cache mark on the last tool, and the call arrives in fragments', async () => {
    const choice = { provider: 'anthropic', apiKey: 'k', model: 'claude' } as const;
    const { seen, asked } = await ask(choice, ANTHROPIC_CALL, withTools);
    expect(seen).toMatchObject([
      { type: 'text', text: 'Let me look.' },
      { type: 'tool-call', call },
      finish,
    ]);
    expect(asked?.body).toMatchObject({
      tools: [
        { name: 'list', input_schema: { type: 'object' } },
        { name: 'read', input_schema: schema, cache_control: { type: 'ephemeral' } },
      ],
    });
    expect(JSON.stringify(asked?.body).match(/cache_control/g)).toHaveLength(2);
  });

  it('[G01] OpenAI: tools are offered, and the call arrives in fragments', async () => {
    const choice = { provider: 'openai', apiKey: 'k', model: 'gpt-4o' } as const;
    const { seen, asked } = await ask(choice, OPENAI_CALL, withTools);
    expect(seen).toMatchObject([
      { type: 'tool-call', call },
      { ...finish, text: '' },
    ]);
    expect(asked?.body).toMatchObject({
      tools: [
        { type: 'function', name: 'list', description: 'Lists.' },
        { type: 'function', name: 'read', parameters: schema },
      ],
    });
  });

  const answered: ModelRequest['messages'] = [
    { role: 'user', content: 'what is in a.md?' },
    { role: 'assistant', content: '', toolCalls: [call] },
    { role: 'tool', callId: 'call_1', name: 'read', content: 'parrots', failed: true },
  ];

  it('[G01] Anthropic: the tool result is sent', async () => {
    const choice = { provider: 'anthropic', apiKey: 'k', model: 'claude' } as const;
    const request = { ...withTools, messages: answered };
    const { asked } = await ask(choice, ANTHROPIC_STREAM, request);
    const result = { type: 'tool_result', tool_use_id: 'call_1', content: 'parrots' };
    expect(asked?.body).toMatchObject({
      messages: [
        { role: 'user' },
        {
          role: 'assistant',
          content: [{ type: 'tool_use', id: 'call_1', name: 'read', input: { path: 'a.md' } }],
        },
        { role: 'user', content: [{ ...result, is_error: true }] },
      ],
    });
  });

  it('[G01] OpenAI: the tool result is sent, without ids of items that OpenAI has not stored', async () => {
    const choice = { provider: 'openai', apiKey: 'k', model: 'gpt-4o' } as const;
    const { asked } = await ask(choice, OPENAI_STREAM, { ...withTools, messages: answered });
    const { name, arguments: given } = call;
    expect(asked?.body).toMatchObject({
      input: [
        { role: 'system' },
        { role: 'user' },
        { type: 'function_call', call_id: 'call_1', name, arguments: given },
        { type: 'function_call_output', call_id: 'call_1', output: 'parrots' },
      ],
    });
    expect(JSON.stringify(asked?.body)).not.toContain('item_reference');
  });
});
