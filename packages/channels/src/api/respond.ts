import type { MessageAnswer } from '@parley/store';
import type { ChannelContext } from '../adapter.ts';
import { guarded } from '../guard.ts';
import type { EventHub } from '../web/events.ts';
import type { ApiAccount } from './api-account.ts';
import { type AnswerRef, awaitAnswer } from './await-answer.ts';
import {
  type ApiError,
  type Completion,
  toChunkBody,
  toCompletionBody,
  toErrorBody,
  toErrorResponse,
  toUsageChunk,
} from './wire.ts';

interface RespondDeps {
  readonly context: Pick<ChannelContext<ApiAccount>, 'answer' | 'settings' | 'log'>;
  readonly hub: EventHub;
  readonly closing: AbortSignal;
}

/** A stored message whose answer a client waits for. */
export interface AnswerRequest {
  readonly about: Completion;
  readonly place: AnswerRef;
  /** In ms since 1970. */
  readonly at: number;
  readonly command: string | undefined;
  readonly stream: false | { readonly usage: boolean };
}

/**
 * Answers requests, either as a whole or as a stream of events. `release` is called once a request
 * is answered.
 */
export function createResponder(
  deps: RespondDeps,
): (order: AnswerRequest, left: AbortSignal, release: () => void) => Promise<Response> {
  return async (order, left, release) => {
    if (order.stream !== false) return streamAnswerEvents(deps, order, left, release);
    try {
      const said = await submitAndAwaitAnswer(deps, order, left);
      if ('status' in said) return toErrorResponse(said);
      const body = toCompletionBody(order.about, said.text, said.usage);
      return Response.json(body, { headers: { 'cache-control': 'no-store' } });
    } finally {
      release();
    }
  };
}

const RETRY_NOTE =
  'To get the answer, repeat the same request with the same Idempotency-Key; nothing runs twice. The page shows the answer, too.';
export const CLOSING: ApiError = {
  status: 503,
  code: 'shutting_down',
  message: `Parley is shutting down and will answer what it has accepted after it has restarted. ${RETRY_NOTE}`,
  retryAfterSeconds: 5,
};
const GONE: ApiError = {
  status: 404,
  code: 'answer_gone',
  message: 'The message with this Idempotency-Key is no longer stored. Send it with another key.',
};
const SET_ASIDE: ApiError = {
  status: 409,
  code: 'stopped',
  message: 'The message was stopped with /stop before it was answered.',
};

function createAnswerTimeoutError(waitMs: number): ApiError {
  const message = `There was no answer within ${waitMs / 1_000} seconds (api.waitSeconds); the agent is still working on it. ${RETRY_NOTE}`;
  return { status: 504, code: 'deadline_exceeded', message };
}

interface CompletedAnswer extends Pick<MessageAnswer, 'usage'> {
  readonly text: string;
  /** Whether the text is an approval question instead of the answer. */
  readonly isQuestion: boolean;
}

/**
 * After these commands the turn that asked continues, and the client still waits for its answer.
 */
const DECIDING: ReadonlySet<string> = new Set(['approve', 'deny', 'answer']);

async function submitAndAwaitAnswer(
  deps: RespondDeps,
  { place, command, at }: AnswerRequest,
  left: AbortSignal,
  onText?: (text: string) => void,
): Promise<CompletedAnswer | ApiError> {
  const { waitMs } = deps.context.settings;
  const deadline = AbortSignal.timeout(waitMs);
  const signal = AbortSignal.any([left, deps.closing, deadline]);
  const why = () =>
    deps.closing.aborted ? CLOSING : signal.aborted ? createAnswerTimeoutError(waitMs) : GONE;
  const answer = await awaitAnswer(deps, place, signal, onText);
  if (answer === null) return why();
  const said = toCompletedAnswer(answer);
  const { pending } = answer;
  if ('status' in said || pending === null || command === undefined || !DECIDING.has(command)) {
    return said;
  }
  const rest = await awaitAnswer(deps, { ...place, messageId: pending }, signal);
  if (rest === null) return why();
  const parts = rest.isSuspended ? rest.parts.filter((part) => part.at > at) : rest.parts;
  const then = toCompletedAnswer({ ...rest, parts });
  if ('status' in then) return then;
  return { ...then, text: [said.text, then.text].filter((text) => text !== '').join('\n\n') };
}

function toCompletedAnswer({
  outcome,
  isSuspended,
  usage,
  parts,
}: MessageAnswer): CompletedAnswer | ApiError {
  const text = parts.map((part) => part.text).join('\n\n');
  if (outcome === 'failed') return { status: 503, code: 'turn_failed', message: text };
  if (outcome === 'stopped' && text === '') return SET_ASIDE;
  return { text, usage, isQuestion: isSuspended };
}

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  // Asks proxies not to buffer events.
  'x-accel-buffering': 'no',
};
/** Clients and proxies close a stream that is silent for too long. */
const KEEP_ALIVE_MS = 15_000;

function streamAnswerEvents(
  deps: RespondDeps,
  order: AnswerRequest,
  left: AbortSignal,
  release: () => void,
): Response {
  const cancelled = new AbortController();
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const write = (text: string): void => {
        if (!cancelled.signal.aborted) controller.enqueue(encoder.encode(text));
      };
      const alive = setInterval(
        guarded('keep-alive', () => write(': alive\n\n')),
        KEEP_ALIVE_MS,
      );
      const signal = AbortSignal.any([left, cancelled.signal]);
      const end = (): void => {
        clearInterval(alive);
        release();
        if (!cancelled.signal.aborted) controller.close();
      };
      // Not awaited, because the response starts before the answer exists.
      writeAnswer(deps, order, signal, write).catch(createFailureNote(deps, write)).finally(end);
    },
    cancel: () => cancelled.abort(),
  });
  return new Response(body, { headers: HEADERS });
}

function createFailureNote({ context }: RespondDeps, write: (text: string) => void) {
  return (error: unknown): void => {
    context.log.error({ error }, 'an API stream failed');
    write(formatSseEvent(toErrorBody(FAILED)));
  };
}

const FAILED: ApiError = {
  status: 503,
  code: 'unavailable',
  message: `Parley could not read the answer just now. ${RETRY_NOTE}`,
};

/**
 * The error when another run replaces the one being streamed: text that was already streamed cannot
 * be retracted.
 */
const CHANGED: ApiError = {
  status: 503,
  code: 'answer_changed',
  message: `The answer was restarted and differs from what was streamed. ${RETRY_NOTE}`,
};

function formatSseEvent(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}

/** Writes the growing answer and then the rest; all chunks together equal the delivered text. */
async function writeAnswer(
  deps: RespondDeps,
  order: AnswerRequest,
  signal: AbortSignal,
  write: (text: string) => void,
): Promise<void> {
  const { about, stream } = order;
  let sent = '';
  const add = (content: string): void => {
    if (content === '') return;
    sent += content;
    write(formatSseEvent(toChunkBody(about, { content }, null)));
  };
  write(formatSseEvent(toChunkBody(about, { role: 'assistant', content: '' }, null)));
  const said = await submitAndAwaitAnswer(deps, order, signal, (growing) => {
    // Trailing whitespace is held back, because the final answer may not contain it.
    const text = growing.trimEnd();
    if (text.startsWith(sent)) add(text.slice(sent.length));
  });
  if ('status' in said) return write(formatSseEvent(toErrorBody(said)));
  if (said.text.startsWith(sent)) add(said.text.slice(sent.length));
  // Text written before an approval question is the beginning of the later answer.
  else if (said.isQuestion) add(`\n\n${said.text}`);
  else return write(formatSseEvent(toErrorBody(CHANGED)));
  write(formatSseEvent(toChunkBody(about, {}, 'stop')));
  if (stream !== false && stream.usage) write(formatSseEvent(toUsageChunk(about, said.usage)));
  write('data: [DONE]\n\n');
}
