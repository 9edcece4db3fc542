import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { ModelEvent, ModelRequest } from './chat-model.ts';
import { ModelTimeouts, type ProviderChoice } from './model-settings.ts';
import { providerModel } from './provider-model.ts';

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

/** A `fetch` that answers with these events and remembers what it was asked. */
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
  };
  const seen: ModelEvent[] = [];
  const model = providerModel(init, { clock: () => 0, fetch });
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

  it('[G01] is asked with one block per layer and a cache mark on the last stable one', async () => {
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

  it('[G17] tells text, tokens, cached tokens and cost', async () => {
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

  it('[G01] is asked not to keep the conversation', async () => {
    const { asked } = await ask(choice, OPENAI_STREAM);
    expect(asked?.url).toBe('https://api.openai.com/v1/responses');
    expect(asked?.headers.get('authorization')).toBe('Bearer key-o');
    expect(asked?.body).toMatchObject({ model: 'gpt-4o', store: false, max_output_tokens: 500 });
  });

  it('[G17] tells text and tokens; the cost is unknown without a price', async () => {
    const { seen } = await ask(choice, OPENAI_STREAM);
    expect(seen.at(-1)).toMatchObject({
      text: 'Hello',
      usage: { inputTokens: 100, outputTokens: 7, cachedInputTokens: 90, estimated: false },
      costUsd: null,
    });
  });

  it('[G01] is asked at its own address, whatever the environment says', async () => {
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

  it('[F10] is shown to Anthropic as its own kind of block', async () => {
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

  it('[F10] is shown to OpenAI as an address that holds it', async () => {
    const choice = { provider: 'openai', apiKey: 'k', model: 'gpt' } as const;
    const { asked } = await ask(choice, OPENAI_STREAM, picture);
    const shown = { type: 'input_image', image_url: 'data:image/png;base64,AQID' };
    expect(asked?.body).toMatchObject({
      input: [{ content: [shown, { type: 'input_text', text: 'what is it?' }] }],
    });
  });
});
