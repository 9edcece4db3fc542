import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';
import {
  type ChatRequest,
  ChatRequest as ChatRequestSchema,
  findRefusal,
  getStrictRefusal,
} from './chat-request.ts';
import { type AnswerHead, createAnswerEvents, createWholeAnswer, DONE } from './chat-wire.ts';
import { handleControl } from './control.ts';
import { readBytes, readJson, sendJson } from './json-http.ts';
import type { ModelDouble } from './model-double.ts';
import { sendFault, startStream } from './model-fault.ts';
import { completeReply, type FullReply } from './scripted-reply.ts';

/** Handles one HTTP request to the double: the model's endpoints and the control endpoint. */
export async function handleModelRequest(
  double: ModelDouble,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  // A client that disconnects midway is normal for a server.
  response.on('error', () => undefined);
  const path = request.url ?? '';
  try {
    if (path.startsWith('/control/')) return await handleControl(double, request, response);
    if (!hasValidKey(double, request))
      return sendRefusal(response, 401, 'Incorrect API key provided.');
    if (request.method === 'GET' && path === '/v1/models') return sendModels(double, response);
    if (request.method === 'POST' && path === '/v1/chat/completions') {
      return await answerChat(double, request, response);
    }
    if (request.method === 'POST' && path === '/v1/audio/transcriptions') {
      return await answerSpeech(double, request, response);
    }
    if (request.method === 'POST' && path === '/v1/audio/speech') {
      return await answerText(double, request, response);
    }
    sendRefusal(response, 404, `Unknown address: ${request.method} ${path}`);
  } catch (error) {
    if (response.headersSent) response.destroy();
    else sendRefusal(response, 500, error instanceof Error ? error.message : String(error));
  }
}

async function answerChat(
  double: ModelDouble,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const parsed = ChatRequestSchema.safeParse(await readJson(request));
  if (!parsed.success) return sendRefusal(response, 400, parsed.error.message);
  const body = parsed.data;
  const ended = double.record(request.headers, body);
  response.once('close', ended);
  const head = { id: `chatcmpl-${double.total}`, model: body.model };
  const refusal = findRefusal(body);
  if (refusal !== null) return sendRefusal(response, 400, refusal);
  if (double.refusesTools && body.tools !== undefined) {
    return sendRefusal(response, 400, `library/${body.model} does not support tools`);
  }
  const strict = double.strictAs === null ? null : getStrictRefusal(body, double.strictAs);
  if (strict !== null) return sendJson(response, strict.status, strict.body);
  const fault = double.nextFault();
  const reply = completeReply(await double.nextReply(body), body);
  if (double.latencyMs > 0) await wait(double.latencyMs);
  if (fault !== null) return sendFault(fault, response, head, reply);
  if (!body.stream) return sendJson(response, 200, createWholeAnswer(head, reply));
  await streamAnswer(double, body, response, head, reply);
}

/** The file extensions by which OpenAI's service recognizes recordings. */
const SPEECH_NAME = /\.(flac|mp3|mp4|mpeg|mpga|m4a|ogg|wav|webm)$/;

async function answerSpeech(
  double: ModelDouble,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const headers = { 'content-type': request.headers['content-type'] ?? '' };
  const form = await new Response(await readBytes(request), { headers }).formData();
  const [file, model] = [form.get('file'), form.get('model')];
  if (!(file instanceof File) || typeof model !== 'string' || !SPEECH_NAME.test(file.name)) {
    return sendRefusal(response, 400, 'Invalid file format, or no model.');
  }
  const bytes = new Uint8Array(await file.arrayBuffer());
  double.heard.push({ model, fileName: file.name, bytes });
  sendJson(response, 200, { text: double.speech });
}

const SpeechRequest = z.strictObject({
  model: z.string(),
  voice: z.string(),
  input: z.string().min(1).max(4_096),
  response_format: z.enum(['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm']),
});

async function answerText(
  double: ModelDouble,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const asked = SpeechRequest.safeParse(await readJson(request));
  if (!asked.success) return sendRefusal(response, 400, asked.error.message);
  double.spoken.push(asked.data);
  if (double.voice === null) return sendRefusal(response, 401, 'Incorrect API key provided.');
  response.writeHead(200, { 'content-type': 'audio/ogg' }).end(double.voice);
}

async function streamAnswer(
  double: ModelDouble,
  body: ChatRequest,
  response: ServerResponse,
  head: AnswerHead,
  reply: FullReply,
): Promise<void> {
  const events = createAnswerEvents(head, reply, body.stream_options?.include_usage ?? false);
  startStream(response);
  const gone = once(response, 'close').then(() => undefined);
  let together = '';
  for (const event of events) {
    together += event;
    const pause = double.pauseOf(event);
    if (pause === null && double.pieceMs === 0) continue;
    if (response.destroyed) return;
    response.write(together);
    together = '';
    await (pause === null ? wait(double.pieceMs) : Promise.race([pause, gone]));
  }
  response.end(together + DONE);
}

function hasValidKey(double: ModelDouble, request: IncomingMessage): boolean {
  return double.apiKey === undefined || request.headers.authorization === `Bearer ${double.apiKey}`;
}

function sendModels(double: ModelDouble, response: ServerResponse): void {
  const data = double.models.map((id) => ({ id, object: 'model', created: 0, owned_by: 'double' }));
  sendJson(response, 200, { object: 'list', data });
}

function sendRefusal(response: ServerResponse, status: number, message: string): void {
  sendJson(response, status, { error: { message, type: 'invalid_request_error', code: null } });
}
