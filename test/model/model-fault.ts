import type { ServerResponse } from 'node:http';
import { z } from 'zod';
import { type AnswerHead, createAnswerEvents, DONE, formatServerEvent } from './chat-wire.ts';
import type { FullReply } from './scripted-reply.ts';

/** The ways in which one answer may fail. */
export const ModelFault = z.discriminatedUnion('kind', [
  /** An HTTP error with OpenAI's error body; `code` is its error code. */
  z.strictObject({
    kind: z.literal('status'),
    status: z.int().min(400).max(599),
    message: z.string().optional(),
    code: z.string().optional(),
    /** The header `Retry-After`: seconds or an HTTP date. */
    retryAfter: z.string().optional(),
  }),
  /** Accepts the request and never responds. */
  z.strictObject({ kind: z.literal('hang') }),
  /** Sends this many pieces of text and then stalls, or cuts the connection. */
  z.strictObject({ kind: z.literal('stall'), afterPieces: z.int().nonnegative() }),
  z.strictObject({ kind: z.literal('cut'), afterPieces: z.int().nonnegative() }),
  /** Closes the connection before any answer. */
  z.strictObject({ kind: z.literal('reset') }),
  /** A web page with status 200, as a proxy may send it. */
  z.strictObject({ kind: z.literal('html') }),
  z.strictObject({ kind: z.literal('malformed-sse') }),
  /** Text, then an error inside the stream, with status 200. */
  z.strictObject({
    kind: z.literal('error-event'),
    afterPieces: z.int().nonnegative(),
    message: z.string(),
    code: z.string().optional(),
  }),
  z.strictObject({ kind: z.literal('empty-stream') }),
  z.strictObject({ kind: z.literal('no-text') }),
  z.strictObject({ kind: z.literal('no-finish') }),
]);
export type ModelFault = z.infer<typeof ModelFault>;

/**
 * Sends the faulty answer. Hanging answers stay open until the client leaves or the double closes.
 */
export function sendFault(
  fault: ModelFault,
  response: ServerResponse,
  head: AnswerHead,
  reply: FullReply,
): void {
  const [opening = '', ...events] = createAnswerEvents(head, reply, true);
  const beginning = (pieces: number) => [opening, ...events.slice(0, pieces)].join('');
  switch (fault.kind) {
    case 'status':
      sendStatus(fault, response);
      return;
    case 'hang':
      return;
    case 'reset':
      response.socket?.resetAndDestroy();
      return;
    case 'html':
      response.writeHead(200, { 'content-type': 'text/html' });
      response.end('<!doctype html><title>Welcome</title><h1>It works!</h1>\n');
      return;
    case 'stall':
      startStream(response).write(beginning(fault.afterPieces));
      return;
    case 'cut':
      startStream(response).write(beginning(fault.afterPieces), () =>
        response.socket?.resetAndDestroy(),
      );
      return;
    case 'malformed-sse':
      startStream(response).end(`data: {"choices":[{"delta":{"con\n\ndata: nonsense\n\n${DONE}`);
      return;
    case 'error-event': {
      const error = { message: fault.message, type: 'server_error', code: fault.code ?? null };
      startStream(response).end(
        `${beginning(fault.afterPieces)}${formatServerEvent({ error })}${DONE}`,
      );
      return;
    }
    case 'empty-stream':
      startStream(response).end(DONE);
      return;
    case 'no-text':
      startStream(response).end(
        createAnswerEvents(head, { ...reply, pieces: [], toolCalls: [] }, true).join('') + DONE,
      );
      return;
    case 'no-finish':
      startStream(response).end(beginning(reply.pieces.length));
      return;
  }
}

/** Starts an answer of server-sent events. */
export function startStream(response: ServerResponse): ServerResponse {
  return response.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
  });
}

function sendStatus(
  fault: Extract<ModelFault, { kind: 'status' }>,
  response: ServerResponse,
): void {
  const message = fault.message ?? `The double answers with status ${fault.status}.`;
  response.writeHead(fault.status, {
    'content-type': 'application/json',
    ...(fault.retryAfter !== undefined && { 'retry-after': fault.retryAfter }),
  });
  response.end(JSON.stringify({ error: { message, type: 'error', code: fault.code ?? null } }));
}
