import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { Meter } from '@parley/core';
import { createRecordingLogger } from '@parley/core/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { DEFAULT_ANSWER_BOUNDS } from '../answer-bounds.ts';
import type { ModelEvent, ModelRequest } from '../chat-model.ts';
import { ModelTimeouts, type ProviderChoice } from '../model-settings.ts';
import { createProviderModel } from '../provider-model.ts';
import { reportOddities } from './report-oddities.ts';

async function serve(answer: RequestListener): Promise<string> {
  const server = createServer((request, response) => {
    response.on('error', () => undefined);
    request.resume().once('end', () => answer(request, response));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  // `address` is a string only for pipes.
  const { port } = server.address() as AddressInfo;
  return `http://127.0.0.1:${port}/v1`;
}

const REQUEST: ModelRequest = { system: [], messages: [{ role: 'user', content: 'hi' }] };
const event = (data: object) => `data: ${JSON.stringify(data)}\n\n`;
const said = (content: string, finish_reason: string | null = null) =>
  event({ choices: [{ index: 0, delta: { content }, finish_reason }] });

interface Asking {
  readonly timeouts?: object;
  readonly choice?: Partial<Extract<ProviderChoice, { provider: 'openai-compatible' }>>;
  readonly signal?: AbortSignal;
}

async function ask(baseUrl: string, { timeouts = {}, choice = {}, signal }: Asking = {}) {
  const model = createProviderModel({
    id: 'openai-compatible/m',
    server: 'api',
    choice: { provider: 'openai-compatible', baseUrl, model: 'm', ...choice },
    timeouts: ModelTimeouts.parse(timeouts),
    bounds: DEFAULT_ANSWER_BOUNDS,
    clock: () => 0,
  });
  const events: ModelEvent[] = [];
  for await (const one of model.stream(REQUEST, signal ?? new AbortController().signal)) {
    events.push(one);
  }
  return events;
}

/** Simulates a sleeping laptop, or other programs that occupy every core. */
const standStill = (ms: number): void =>
  void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

const SIGNS = [
  ['comments', ': OPENROUTER PROCESSING\n\n'],
  ['pings', 'event: ping\ndata: {}\n\n'],
  ['chunks that name the role', event({ choices: [{ delta: { role: 'assistant' } }] })],
  ['chunks without choices', event({ choices: [] })],
  ['progress', event({ choices: [], prompt_progress: { total: 9, processed: 3 } })],
  ['bytes without meaning', ' '],
] as const;

describe('a slow server', () => {
  it('[G21] extends the deadline for the first word with any activity', async () => {
    const answers = SIGNS.map(async ([what, sign]) => {
      const url = await serve(async (_request, response) => {
        for (let nth = 0; nth < 12; nth += 1) {
          response.write(sign);
          await wait(200);
        }
        response.end(`\n${said(`at last, after ${what}`, 'stop')}`);
      });
      return ask(url, { timeouts: { firstTokenMs: 2_000 } });
    });
    const texts = (await Promise.all(answers)).map(([first]) => first);
    expect(texts).toEqual(
      SIGNS.map(([what]) => ({ type: 'text', text: `at last, after ${what}` })),
    );
  });

  it('[G21] counts as active if its data arrived while the whole process was suspended', async () => {
    const url = await serve(async (_request, response) => {
      response.write(': still here\n\n');
      standStill(600);
      await wait(1);
      response.end(said('at last', 'stop'));
    });
    const [first] = await ask(url, { timeouts: { firstTokenMs: 300 } });
    expect(first).toEqual({ type: 'text', text: 'at last' });
  });

  it('[G21] is abandoned at the total limit, even if it is active', async () => {
    const url = await serve(async (_request, response) => {
      while (!response.destroyed) {
        response.write(': still here\n\n');
        await wait(50);
      }
    });
    const timeouts = { firstTokenMs: 1_500, totalMs: 2_500 };
    await expect(ask(url, { timeouts })).rejects.toMatchObject({
      failure: { kind: 'timeout', phase: 'total' },
    });
  });

  it('[G20] keeps its complete answer if the deadline passes before it closes the connection', async () => {
    const url = await serve((_request, response) => void response.write(said('42', 'stop')));
    const events = await ask(url, { timeouts: { chunkMs: 200 } });
    expect(events.at(-1)).toMatchObject({ text: '42', finishReason: 'stop' });
  });

  it('[G01] does not deliver an answer to a call that its caller has stopped, even if the answer was complete', async () => {
    const stop = new AbortController();
    const url = await serve((_request, response) => {
      response.write(said('42', 'stop'), () => stop.abort());
    });
    await expect(ask(url, { signal: stop.signal })).rejects.toMatchObject({
      code: 'model-aborted',
    });
  });
});

describe('the request to a server', () => {
  it('[G01] has headers from the settings in place of Parley’s own, in any letter case', async () => {
    const asked: unknown[] = [];
    const url = await serve((request, response) => {
      const { url: path, headers } = request;
      asked.push([path, headers.authorization, headers['x-title'], headers['content-type']]);
      response.end(said('hi', 'stop'));
    });
    const headers = { Authorization: 'Token mine', 'X-Title': 'Parley' };
    await ask(`${url}/`, { choice: { apiKey: 'key', headers } });
    expect(asked).toEqual([['/v1/chat/completions', 'Token mine', 'Parley', 'application/json']]);
  });
});

describe('skipped content of an answer', () => {
  it('[G20] is counted each time and logged once an hour, without the text of the answer', () => {
    const counted: unknown[] = [];
    const meter: Meter = {
      count: (...one) => void counted.push(one),
      observe() {},
    };
    const { log, lines } = createRecordingLogger();
    let now = 0;
    const report = reportOddities('openai-compatible/m', {
      logger: log,
      monotonic: () => now,
      meter,
    });
    report(new Map([['unreadable', 3]]));
    report(new Map([['unreadable', 1]]));
    now = 60 * 60 * 1_000;
    report(new Map([['nameless-call', 1]]));
    expect(counted).toEqual([
      ['parley_model_protocol_errors_total', { kind: 'unreadable' }, 3],
      ['parley_model_protocol_errors_total', { kind: 'unreadable' }, 1],
      ['parley_model_protocol_errors_total', { kind: 'nameless-call' }, 1],
    ]);
    expect(lines).toEqual([
      expect.stringContaining('{"model":"openai-compatible/m","unreadable":3}'),
      expect.stringContaining('{"model":"openai-compatible/m","nameless-call":1}'),
    ]);
  });
});
