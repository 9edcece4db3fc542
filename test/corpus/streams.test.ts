import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, join } from 'node:path';
import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { systemTime } from '@parley/core';
import { createRecordingLogger } from '@parley/core/testing';
import {
  createChatModel,
  ModelError,
  type ModelEvent,
  type ModelRequest,
  ModelSettings,
} from '@parley/models';
import { describe, expect, it, type TestContext } from 'vitest';
import { z } from 'zod';

/** A case is the bytes that a server sends, and beside them `NAME.expected.json`. */
const FOLDER = join(import.meta.dirname, 'streams');
const EXPECTED = '.expected.json';
/** How long counts may follow a complete answer here: the servers of this test send all they have at once. */
const GRACE_MS = 1_000;

const Expected = z.strictObject({
  /** Which server writes like that, and what is odd about it. */
  about: z.string(),
  /** How the bytes are sent: by default with 200, as events, and the answer is ended. */
  sent: z
    .strictObject({
      status: z.int().optional(),
      headers: z.record(z.string(), z.string()).optional(),
      packed: z.enum(['gzip', 'br']).optional(),
      /** `open`: the server says nothing more. `close` and `reset`: it ends the connection without a word. */
      ends: z.enum(['open', 'close', 'reset']).optional(),
    })
    .optional(),
  /** Names of the tools that were offered. */
  tools: z.array(z.string()).optional(),
  /** What a person is shown, also before an error. */
  text: z.string(),
  calls: z.array(z.strictObject({ name: z.string(), arguments: z.string() })).default([]),
  /** What was kept for the inspector; not checked when absent. */
  reasoning: z.string().optional(),
  finishReason: z.string().optional(),
  rawFinishReason: z.string().optional(),
  servedModel: z.string().optional(),
  /** Tokens as the server counted them; absent: they were estimated. */
  usage: z.strictObject({ input: z.int(), output: z.int(), cached: z.int() }).optional(),
  /** The code of the error, where there is no answer. */
  error: z.string().optional(),
  /** How often the model was asked; not checked when absent. */
  asked: z.int().optional(),
  /** What was skipped, and how often. */
  skipped: z.record(z.string(), z.int()).default({}),
});
type Expected = z.infer<typeof Expected>;

const files = readdirSync(FOLDER);
const nameOf = (file: string) => file.replace(/\.(expected\.json|[^.]+)$/, '');
const inputs = files.filter((file) => !file.endsWith(EXPECTED));

describe('the corpus of answers', () => {
  it('[G20] has an expectation for each input, and an input for each expectation', () => {
    const expectations = files.filter((file) => file.endsWith(EXPECTED)).map(nameOf);
    expect(expectations.toSorted()).toEqual(inputs.map(nameOf).toSorted());
  });

  it.concurrent.for(inputs)('[G20] is read as it was meant: %s', async (file, context) => {
    const bytes = readFileSync(join(FOLDER, file));
    const path = join(FOLDER, `${nameOf(basename(file))}${EXPECTED}`);
    const expected = Expected.parse(JSON.parse(readFileSync(path, 'utf8')));
    // At once, and in pieces that cut characters and fields in two.
    const sizes = [bytes.length, 40];
    await Promise.all(sizes.map((size) => check(bytes, size, expected, context)));
  });
});

async function check(
  bytes: Buffer,
  size: number,
  expected: Expected,
  context: TestContext,
): Promise<void> {
  const listener: RequestListener = (_request, response) =>
    void send(response, bytes, size, expected);
  const server = await serve(listener, context);
  const answer = await ask(server.baseUrl, expected.tools ?? []);
  const { about: _about, sent: _sent, tools: _tools, usage, reasoning, ...wanted } = expected;
  expect({
    text: answer.text,
    calls: answer.calls,
    finishReason: answer.finish?.finishReason,
    rawFinishReason: answer.finish?.rawFinishReason,
    servedModel: answer.finish?.servedModel,
    error: answer.error,
    skipped: answer.skipped,
    ...(expected.asked !== undefined && { asked: server.asked() }),
  }).toEqual({
    finishReason: expected.error === undefined ? 'stop' : undefined,
    rawFinishReason: undefined,
    servedModel: undefined,
    error: undefined,
    ...wanted,
  });
  if (answer.finish === undefined) return;
  expect(answer.finish.text).toBe(expected.text);
  if (reasoning !== undefined) expect(answer.finish.aside?.reasoning).toBe(reasoning);
  const {
    inputTokens: input,
    outputTokens: output,
    cachedInputTokens: cached,
  } = answer.finish.usage;
  expect(answer.finish.usage.estimated ? undefined : { input, output, cached }).toEqual(usage);
}

async function serve(listener: RequestListener, { onTestFinished }: TestContext) {
  let asked = 0;
  const server = createServer((request, response) => {
    asked += 1;
    // A client that leaves in the middle is an everyday matter for a server.
    response.on('error', () => undefined);
    request.resume().once('end', () => listener(request, response));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  // `address` is a string for pipes alone.
  const { port } = server.address() as AddressInfo;
  return { baseUrl: `http://127.0.0.1:${port}/v1`, asked: () => asked };
}

async function send(
  response: ServerResponse,
  written: Buffer,
  size: number,
  { sent = {} }: Expected,
): Promise<void> {
  const { status = 200, headers = {}, packed, ends } = sent;
  const bytes =
    packed === 'gzip' ? gzipSync(written) : packed === 'br' ? brotliCompressSync(written) : written;
  response.writeHead(status, {
    'content-type': 'text/event-stream',
    ...(packed !== undefined && { 'content-encoding': packed }),
    ...headers,
  });
  response.flushHeaders();
  for (let at = 0; at < bytes.length; at += size) {
    await new Promise((flushed) => response.write(bytes.subarray(at, at + size), flushed));
    await turn();
  }
  if (ends === undefined) response.end();
  else if (ends === 'close') response.socket?.end();
  else if (ends === 'reset') {
    // What was written must have been read, or the reset overtakes it. The client is in this process: with each
    // turn of its loop it reads what there is.
    for (let nth = 0; nth < 20; nth += 1) await wait(5).then(() => turn());
    response.socket?.resetAndDestroy();
  }
}

async function ask(baseUrl: string, tools: readonly string[]) {
  const skipped: Record<string, number> = {};
  const settings = { provider: 'openai-compatible', baseUrl, model: 'm' };
  const { model } = createChatModel(ModelSettings.parse(settings), {
    settingsFile: 'parley.yaml',
    ...systemTime,
    sleep: async () => undefined,
    graceMs: GRACE_MS,
    logger: createRecordingLogger().log,
    meter: {
      count: (_name, labels, by = 1) => {
        const kind = labels?.kind ?? '';
        skipped[kind] = (skipped[kind] ?? 0) + by;
      },
      observe() {},
    },
  });
  const request: ModelRequest = {
    system: [],
    messages: [{ role: 'user', content: 'What is the answer?' }],
    ...(tools.length > 0 && { tools: tools.map(toolOf) }),
  };
  const events: ModelEvent[] = [];
  let error: string | undefined;
  try {
    for await (const event of model.stream(request, new AbortController().signal))
      events.push(event);
  } catch (thrown) {
    if (!(thrown instanceof ModelError)) throw thrown;
    error = thrown.code;
  }
  return {
    text: events.map((event) => (event.type === 'text' ? event.text : '')).join(''),
    calls: events.flatMap((event) =>
      event.type === 'tool-call'
        ? [{ name: event.call.name, arguments: event.call.arguments }]
        : [],
    ),
    finish: events.find((event) => event.type === 'finish'),
    error,
    skipped,
  };
}

const toolOf = (name: string) => ({
  name,
  description: `Does ${name}.`,
  inputSchema: { type: 'object', properties: { path: { type: 'string' } } },
});
