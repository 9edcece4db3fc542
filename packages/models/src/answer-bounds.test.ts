import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  type AnswerLimits,
  createAnswerMeter,
  DEFAULT_ANSWER_BOUNDS,
  measurePart,
} from './answer-bounds.ts';
import type { ModelEvent, ModelFinish, ModelToolCall } from './chat-model.ts';
import { httpFetch } from './http-fetch.ts';
import { ModelTimeouts, type ProviderChoice } from './model-settings.ts';
import { createProviderModel } from './provider-model.ts';

const BOUNDS: AnswerLimits = {
  characters: 10_000,
  reasoningCharacters: 20_000,
  argumentBytes: 5_000,
  calls: 3,
};

type Provider = ProviderChoice['provider'];
/** The output that an endless provider repeats. */
type Endless = (nth: number) => string;

const event = (data: object): string => `data: ${JSON.stringify(data)}\n\n`;
const choice = (delta: object): string => event({ choices: [{ index: 0, delta }] });
const anthropic = (delta: object, index = 0): string =>
  event({ type: 'content_block_delta', index, delta });
const anthropicBlock = (content_block: object, index = 0): string =>
  event({ type: 'message_start', message: { id: 'm', model: 'x', usage: { input_tokens: 1 } } }) +
  event({ type: 'content_block_start', index, content_block });
const openai = (type: string, more: object): string => event({ type: `response.${type}`, ...more });
const FUNCTION = { type: 'function_call', id: 'fc', call_id: 'c', name: 'read' };

const WORD = 'word '.repeat(20);

const TEXT: Readonly<Record<Provider, Endless>> = {
  'openai-compatible': () => choice({ content: WORD }),
  anthropic: (nth) =>
    (nth === 0 ? anthropicBlock({ type: 'text', text: '' }) : '') +
    anthropic({ type: 'text_delta', text: WORD }),
  openai: (nth) =>
    (nth === 0
      ? openai('output_item.added', { output_index: 0, item: { type: 'message', id: 'i' } })
      : '') + openai('output_text.delta', { item_id: 'i', delta: WORD }),
};

const ARGUMENTS: Readonly<Record<Provider, Endless>> = {
  'openai-compatible': (nth) =>
    choice({
      tool_calls: [
        nth === 0
          ? { index: 0, id: 'c', type: 'function', function: { name: 'read', arguments: '{"a":"' } }
          : { index: 0, function: { arguments: WORD } },
      ],
    }),
  anthropic: (nth) =>
    (nth === 0 ? anthropicBlock({ type: 'tool_use', id: 'c', name: 'read', input: {} }) : '') +
    anthropic({ type: 'input_json_delta', partial_json: nth === 0 ? '{"a":"' : WORD }),
  openai: (nth) =>
    nth === 0
      ? openai('output_item.added', {
          output_index: 0,
          item: { ...FUNCTION, arguments: '', status: 'in_progress' },
        })
      : openai('function_call_arguments.delta', { item_id: 'fc', output_index: 0, delta: WORD }),
};

const CALLS: Endless = (nth) =>
  choice({
    tool_calls: [
      { index: nth, id: `c${nth}`, type: 'function', function: { name: 'read', arguments: '{}' } },
    ],
  });

const THOUGHTS: Endless = () => choice({ reasoning_content: WORD });

/** A provider that writes as long as it is connected; `open` counts its connections. */
async function endlessProvider(write: Endless) {
  const connections = new Set<ServerResponse>();
  const server = createServer((_request, response) => {
    connections.add(response);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    let nth = 0;
    const more = (): void => {
      if (response.destroyed) return;
      const isTaken = response.write(write(nth));
      nth += 1;
      if (isTaken) setImmediate(more);
      else response.once('drain', more);
    };
    response.once('close', () => connections.delete(response));
    more();
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  onTestFinished(() => void server.close());
  // `address` is a string only for pipes.
  const { port } = server.address() as AddressInfo;
  return { baseUrl: `http://127.0.0.1:${port}/v1`, open: () => connections.size };
}

function modelAt(baseUrl: string, provider: Provider = 'openai-compatible') {
  return createProviderModel({
    id: `${provider}/m`,
    server: 'api',
    choice: { provider, baseUrl, apiKey: 'key', model: 'm' },
    timeouts: ModelTimeouts.parse({}),
    bounds: BOUNDS,
    clock: () => 0,
    fetch: httpFetch,
  });
}

/** Collects all events of one answer, and how it ended. */
async function ask(baseUrl: string, provider?: Provider) {
  const events: ModelEvent[] = [];
  const request = { system: [], messages: [{ role: 'user', content: 'hi' } as const] };
  const stream = modelAt(baseUrl, provider).stream(request, new AbortController().signal);
  for await (const one of stream) events.push(one);
  const text = events.flatMap((one) => (one.type === 'text' ? one.text : [])).join('');
  const calls = events.flatMap((one): ModelToolCall[] =>
    one.type === 'tool-call' ? [one.call] : [],
  );
  const finish = events.find((one): one is ModelFinish => one.type === 'finish');
  return { text, calls, finish };
}

describe('[D07] an endless answer', () => {
  it.each<Provider>(['openai-compatible', 'anthropic', 'openai'])(
    'is cut off at the text limit, and the connection is closed (%s)',
    async (provider) => {
      const { baseUrl, open } = await endlessProvider(TEXT[provider]);
      const { text, finish } = await ask(baseUrl, provider);
      expect(text).toHaveLength(BOUNDS.characters);
      expect(finish).toMatchObject({
        text,
        finishReason: 'length',
        cut: { what: 'characters', most: BOUNDS.characters },
        usage: { estimated: true },
      });
      await expect.poll(open).toBe(0);
    },
  );

  it.each<Provider>(['openai-compatible', 'anthropic', 'openai'])(
    'has its arguments replaced by a note on why the call does not run (%s)',
    async (provider) => {
      const { baseUrl, open } = await endlessProvider(ARGUMENTS[provider]);
      const { calls, finish } = await ask(baseUrl, provider);
      expect(calls).toHaveLength(1);
      expect(calls[0]).toMatchObject({
        id: 'c',
        name: 'read',
        arguments: expect.stringContaining('at most 5000 bytes of arguments'),
      });
      expect(calls[0]?.arguments.length).toBeLessThan(300);
      expect(finish?.cut).toEqual({ what: 'argumentBytes', most: BOUNDS.argumentBytes });
      await expect.poll(open).toBe(0);
    },
  );

  it('is cut off after the first call beyond the limit; that call does not run, and its arguments state the reason', async () => {
    const { baseUrl, open } = await endlessProvider(CALLS);
    const { calls, finish } = await ask(baseUrl);
    expect(calls.map(({ id }) => id)).toEqual(['c0', 'c1', 'c2', 'c3']);
    expect(calls.map((call) => call.arguments)).toEqual([
      '{}',
      '{}',
      '{}',
      expect.stringContaining('at most 3 calls'),
    ]);
    expect(finish?.cut?.what).toBe('calls');
    await expect.poll(open).toBe(0);
  });

  it('fails if it consists of reasoning, and names the setting that limits it', async () => {
    const { baseUrl, open } = await endlessProvider(THOUGHTS);
    await expect(ask(baseUrl)).rejects.toMatchObject({
      code: 'model-endless',
      retryable: false,
      message: expect.stringContaining('limits.answer.reasoningCharacters'),
    });
    await expect.poll(open).toBe(0);
  });

  it('fails before it fills the memory if it is a single endless event', async () => {
    const { baseUrl, open } = await endlessProvider(
      (nth) => (nth === 0 ? 'data: ' : '') + WORD.repeat(100),
    );
    await expect(ask(baseUrl)).rejects.toMatchObject({ code: 'model-rubbish' });
    await expect.poll(open).toBe(0);
  });

  it('is limited separately in each of many concurrent streams', async () => {
    const { baseUrl, open } = await endlessProvider(TEXT['openai-compatible']);
    const answers = await Promise.all(Array.from({ length: 40 }, () => ask(baseUrl)));
    expect(answers.map(({ text }) => text.length)).toEqual(Array(40).fill(BOUNDS.characters));
    await expect.poll(open).toBe(0);
  });

  it('is never truncated within a character', async () => {
    const { baseUrl } = await endlessProvider(() => choice({ content: 'x😀' }));
    const { text } = await ask(baseUrl);
    expect(text.isWellFormed()).toBe(true);
    expect(text.length).toBeGreaterThan(BOUNDS.characters - 2);
  });

  it('is limited by default', () => {
    expect(Object.values(DEFAULT_ANSWER_BOUNDS).every(Number.isSafeInteger)).toBe(true);
  });
});

it('[M01] never contains a mark that Parley reserves for itself', () => {
  const part = { type: 'text', text: 'a\ufdd3b\u{1fffe}\uffff' } as const;
  expect(measurePart(createAnswerMeter(DEFAULT_ANSWER_BOUNDS), part)).toEqual({
    type: 'text',
    text: 'a\ufffdb\ufffd\ufffd',
  });
});
