import type { FullReply } from './scripted-reply.ts';

/** The id and model of one answer, the same in all its events. */
export interface AnswerHead {
  readonly id: string;
  readonly model: string;
}

/** The server-sent events of a streamed answer, without the closing `[DONE]`. */
export function createAnswerEvents(
  head: AnswerHead,
  reply: FullReply,
  withUsage: boolean,
): string[] {
  const event = (delta: object, finish_reason: string | null = null) =>
    formatServerEvent({ ...createChunk(head), choices: [{ index: 0, delta, finish_reason }] });
  const events = [event({ role: 'assistant', content: '' })];
  if (reply.reasoning !== '') events.push(event({ reasoning_content: reply.reasoning }));
  for (const content of reply.pieces) events.push(event({ content }));
  for (const [index, call] of reply.toolCalls.entries()) {
    const { id, name } = call;
    events.push(
      event({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }),
    );
    for (const part of splitFragments(call.arguments)) {
      events.push(event({ tool_calls: [{ index, function: { arguments: part } }] }));
    }
  }
  events.push(event({}, reply.finishReason));
  if (withUsage && reply.usage !== null) {
    events.push(formatServerEvent({ ...createChunk(head), choices: [], usage: reply.usage }));
  }
  return events;
}

/** The answer to a request without `stream`. */
export function createWholeAnswer(head: AnswerHead, reply: FullReply): object {
  const tool_calls = reply.toolCalls.map(({ id, name, arguments: given }) => ({
    id,
    type: 'function',
    function: { name, arguments: given },
  }));
  const message = {
    role: 'assistant',
    content: reply.pieces.join(''),
    ...(reply.reasoning !== '' && { reasoning_content: reply.reasoning }),
    ...(tool_calls.length > 0 && { tool_calls }),
  };
  return {
    id: head.id,
    object: 'chat.completion',
    created: CREATED,
    model: head.model,
    choices: [{ index: 0, message, finish_reason: reply.finishReason }],
    ...(reply.usage !== null && { usage: reply.usage }),
  };
}

/** One server-sent event. */
export function formatServerEvent(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}

/** Ends a streamed answer. */
export const DONE = 'data: [DONE]\n\n';

/** Seconds since 1970, constant so that two equal requests get equal answers. */
const CREATED = 1_700_000_000;

function createChunk(head: AnswerHead): object {
  return { id: head.id, object: 'chat.completion.chunk', created: CREATED, model: head.model };
}

/** Characters per fragment, about two tokens. */
const FRAGMENT = 8;

/** Real servers send the arguments of a call in fragments that are not valid JSON individually. */
function splitFragments(text: string): string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length; at += FRAGMENT) pieces.push(text.slice(at, at + FRAGMENT));
  return pieces;
}
