import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { silentLogger, systemTime } from '@parley/core';
import { createChatModel, ModelSettings, resolveWindow } from '@parley/models';
import { describe, expect, it, type TestContext } from 'vitest';
import { z } from 'zod';
import { createCountingTool } from '../../packages/agent/src/testing/tool-scene.ts';
import { openTurnScene } from '../../packages/agent/src/testing/turn-scene.ts';

const FOLDER = join(import.meta.dirname, 'answers');
/** What the model is thought to take, in tokens. */
const WINDOW = 32_768;

/** One answer of a server: its status line as the corpus writes it, and its body as it was sent. */
interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** It answers every request whose body is longer, in bytes; the others are answered in their order. */
  readonly longerThan: number | null;
  readonly body: string;
}

/** `=== status {headers} [longer-than bytes]`, and the body below it. */
function repliesIn(file: string): readonly Reply[] {
  const parts = readFileSync(join(FOLDER, file), 'utf8').split(/^=== /m).slice(1);
  return parts.map((part) => {
    const [head = '', ...lines] = part.split('\n');
    const [, status, headers = '{}', longer] =
      /^(\d+) (\{.*\})(?: longer-than (\d+))?$/.exec(head) ?? [];
    const body = lines.join('\n');
    return {
      status: Number(status),
      headers: JSON.parse(headers),
      longerThan: longer === undefined ? null : Number(longer),
      // A stream ends with an empty line, which the file does not have.
      body: headers.includes('event-stream') ? `${body}\n` : body.trimEnd(),
    };
  });
}

const Expected = z.strictObject({
  about: z.string(),
  /** What the chat reads, message by message; null where only `mentions` counts. */
  reads: z.array(z.string()).nullable(),
  /** Words that the chat reads, and words that it must not. */
  mentions: z.array(z.string()).default([]),
  never: z.array(z.string()).default([]),
  /** How often the model was asked; null where that depends on estimates. */
  asked: z.int().nullable(),
  /** What the tool `look` was called with. */
  ran: z.array(z.string()).default([]),
  question: z.strictObject({ words: z.int() }).default({ words: 1 }),
});

const files = readdirSync(FOLDER);
const inputs = files.filter((file) => file.endsWith('.http'));

describe('the corpus of conversations with a server', () => {
  it('[G21] has an expectation for each input, and no other', () => {
    const expected = inputs.map((file) => file.replace(/\.http$/, '.expected.json'));
    expect(files.toSorted()).toEqual([...inputs, ...expected].toSorted());
  });

  it.concurrent.for(inputs)('[G21] ends as it must: %s', async (file, context) => {
    const path = join(FOLDER, file.replace(/\.http$/, '.expected.json'));
    const expected = Expected.parse(JSON.parse(readFileSync(path, 'utf8')));
    const server = await serve(repliesIn(file), context);
    const { tool, calls } = createCountingTool('look');
    const { model } = createChatModel(settingsFor(server.baseUrl), {
      settingsFile: 'parley.yaml',
      ...systemTime,
      random: () => 0,
      sleep: async () => undefined,
      logger: silentLogger,
    });
    const contextTokens = () => resolveWindow(model, WINDOW);
    const scene = await openTurnScene({}, { model, contextTokens, tools: [tool] });
    context.onTestFinished(() => scene.close());
    await scene.write('words '.repeat(expected.question.words));
    await scene.answerNext();
    const owed = await scene.owed();
    if (expected.reads !== null) expect(owed).toEqual(expected.reads);
    for (const words of expected.mentions) expect(owed.join('\n')).toContain(words);
    for (const words of expected.never) expect(owed.join('\n')).not.toContain(words);
    if (expected.asked !== null) expect(server.asked()).toBe(expected.asked);
    expect(calls.map(({ word }) => word)).toEqual(expected.ran);
  });
});

function settingsFor(baseUrl: string): ModelSettings {
  return ModelSettings.parse({ provider: 'openai-compatible', baseUrl, model: 'm' });
}

async function serve(replies: readonly Reply[], { onTestFinished }: TestContext) {
  let asked = 0;
  const inOrder = replies.filter(({ longerThan }) => longerThan === null);
  const answer = (length: number): Reply | undefined => {
    asked += 1;
    const refusal = replies.find(({ longerThan }) => longerThan !== null && length > longerThan);
    return refusal ?? inOrder.shift();
  };
  const server = createServer((request, response) => {
    readLength(request).then((length) => send(response, answer(length)));
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

async function readLength(request: IncomingMessage): Promise<number> {
  let length = 0;
  for await (const piece of request) length += piece.length;
  return length;
}

/** A request that no case foresees is refused for good. */
function send(response: ServerResponse, reply: Reply | undefined): void {
  const { status, headers, body } = reply ?? { status: 402, headers: {}, body: 'no more replies' };
  response.writeHead(status, headers).end(body);
}
