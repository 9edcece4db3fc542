import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';

/** What a rehearsed release sent to its model. */
export interface ModelRequest {
  /** The number of the played message that is answered; null for other requests. */
  readonly message: number | null;
  /** The whole request, as JSON. */
  readonly text: string;
}

/** A model on this machine that answers by rule, so that nothing is sent to a provider. */
export interface RehearsalModel {
  readonly baseUrl: string;
  readonly requests: readonly ModelRequest[];
  /** Forgets the requests of an earlier release. */
  reset(): void;
  close(): Promise<void>;
}

export const MODEL_NAME = 'rehearsal';
const MAX_REQUEST_BYTES = 16_000_000;
const MAX_REQUESTS = 2_000;

/** The mark at the end of a played message, and the mark in each part of its answer. */
export const markMessage = (number: number): string => `[rehearsal ${number}]`;
export const markPart = (number: number, part: number): string => `(answer ${number}.${part})`;
const MESSAGE_MARK = /\[rehearsal (\d+)\]/g;
/** More than any platform accepts in one message, so that each paragraph becomes a part. */
const FILL = 'This sentence fills a part of a long answer. '.repeat(75).trim();

const ChatRequest = z.looseObject({
  stream: z.boolean().default(false),
  messages: z.array(z.looseObject({ role: z.string(), content: z.unknown() })),
});

/**
 * Starts the model. The message with a number in `long` gets an answer of three parts, and every
 * other played message an answer of one part.
 */
export async function startRehearsalModel(long: ReadonlySet<number>): Promise<RehearsalModel> {
  let requests: ModelRequest[] = [];
  const server = createServer((request, response) => {
    void answer(request, response).catch(() => response.destroy());
  });
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on('error', () => undefined);
    if (request.method !== 'POST') return sendJson(response, { data: [{ id: MODEL_NAME }] });
    const text = await readText(request);
    const { stream, messages } = ChatRequest.parse(JSON.parse(text));
    const last = messages.findLast(({ role }) => role === 'user');
    const marks = [...JSON.stringify(last?.content ?? '').matchAll(MESSAGE_MARK)];
    const message = marks.length === 0 ? null : Number(marks.at(-1)?.[1]);
    if (requests.length < MAX_REQUESTS) requests.push({ message, text });
    const said = message === null ? 'Nothing to add.' : composeAnswer(message, long.has(message));
    if (stream) streamAnswer(response, said);
    else sendJson(response, createCompletion({ message: { role: 'assistant', content: said } }));
  }
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    get requests() {
      return requests;
    },
    reset() {
      requests = [];
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function composeAnswer(message: number, isLong: boolean): string {
  if (!isLong) return `This is an answer. ${markPart(message, 1)}`;
  return [1, 2, 3].map((part) => `${FILL} ${markPart(message, part)}`).join('\n\n');
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > MAX_REQUEST_BYTES) throw new Error('the request is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function sendJson(response: ServerResponse, value: object): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

function createCompletion(choice: object): object {
  const usage = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 };
  const head = { id: 'rehearsal', object: 'chat.completion', created: 0, model: MODEL_NAME };
  return { ...head, choices: [{ index: 0, finish_reason: 'stop', ...choice }], usage };
}

function streamAnswer(response: ServerResponse, content: string): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const choice of [
    { delta: { role: 'assistant', content }, finish_reason: null },
    { delta: {}, finish_reason: 'stop' },
  ])
    response.write(`data: ${JSON.stringify(createCompletion(choice))}\n\n`);
  response.end('data: [DONE]\n\n');
}
