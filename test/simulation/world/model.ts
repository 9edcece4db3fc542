import type { RandomChance } from '../engine/chance.ts';
import type { ServedResponse, ServeRequest } from './network.ts';

/** The content of a request to the model, as far as scripts need it. */
export interface ModelRequest {
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly string[];
  /** The complete body, as sent. */
  readonly body: string;
}

export interface ModelMessage {
  readonly role: string;
  readonly text: string;
  /** The model's tool calls in this message. */
  readonly calls: readonly { readonly id: string; readonly name: string }[];
  /** The call whose result is in this message. */
  readonly resultOf?: string | undefined;
}

/** The model's answer: text or tool calls. */
export interface ModelAnswer {
  readonly text?: string;
  readonly calls?: readonly { readonly name: string; readonly arguments: object }[];
}

/** The way in which one request fails, besides its answer. */
export type ModelFault =
  | { readonly kind: 'none' }
  | { readonly kind: 'silent' }
  | { readonly kind: 'endless' }
  | { readonly kind: 'cut' }
  | { readonly kind: 'refuses'; readonly status: number };

/** Draws the fault of one request; `isBad` tells whether faults are allowed. */
export function drawModelFault(chance: RandomChance, isBad: boolean): ModelFault {
  if (!isBad) return { kind: 'none' };
  return chance.one<ModelFault>([
    { kind: 'none' },
    { kind: 'silent' },
    { kind: 'endless' },
    { kind: 'cut' },
    { kind: 'refuses', status: 429 },
    { kind: 'refuses', status: 503 },
  ]);
}

/**
 * The model's address in the settings of a simulated Parley. The user name in it makes the request
 * use `fetch`.
 */
export const MODEL_URL = 'http://seed@model.simulation/v1';
export const MODEL_HOST = 'model.simulation';

/** A model with an OpenAI-compatible API; `answer` decides the text, `fault` the failure. */
export function createSimulatedModel(
  answer: (request: ModelRequest) => ModelAnswer,
  pace: () => { readonly thinkMs: number; readonly fault: ModelFault },
): ServeRequest {
  let answers = 0;
  return async ({ url, body }) => {
    if (url.pathname.endsWith('/models'))
      return createWholeResponse({ object: 'list', data: [{ id: 'seed' }] });
    const { thinkMs, fault } = pace();
    if (fault.kind === 'refuses') return createRefusedResponse(fault.status);
    const asked = JSON.parse(body) as {
      readonly stream?: boolean;
      readonly messages: readonly SentMessage[];
      readonly tools?: readonly { readonly function: { readonly name: string } }[];
    };
    const messages = asked.messages.map(readMessage);
    const tools = (asked.tools ?? []).map((tool) => tool.function.name);
    answers += 1;
    const said = answer({ messages, tools, body });
    return asked.stream === true
      ? createStreamedAnswer(`answer-${answers}`, said, thinkMs, fault)
      : createWholeAnswer(`answer-${answers}`, said, thinkMs, fault);
  };
}

interface SentMessage {
  readonly role: string;
  readonly content?: unknown;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly function: { readonly name: string };
  }[];
}

function readMessage(sent: SentMessage): ModelMessage {
  const { role, content, tool_calls: calls = [], tool_call_id: resultOf } = sent;
  const named = calls.map(({ id, function: { name } }) => ({ id, name }));
  return { role, text: readText(content), calls: named, resultOf };
}

/** The text of message content, which is plain text or a list of text parts. */
function readText(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .map((part: { readonly text?: unknown }) => (typeof part.text === 'string' ? part.text : ''))
    .join('\n');
}

const JSON_TYPE = { 'content-type': 'application/json' };

function createWholeResponse(
  value: object,
  thinkMs = 1,
  ends: ServedResponse['ends'] = 'whole',
): ServedResponse {
  const pieces = [{ afterMs: thinkMs, text: JSON.stringify(value) }];
  return { status: 200, headers: JSON_TYPE, pieces, ends };
}

function createRefusedResponse(status: number): ServedResponse {
  const text = JSON.stringify({ error: { message: 'the simulated model refuses', type: 'seed' } });
  const headers = { ...JSON_TYPE, ...(status === 429 && { 'retry-after': '2' }) };
  return { status, headers, pieces: [{ afterMs: 1, text }] };
}

const USAGE = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 };

function createToolCalls(id: string, { calls = [] }: ModelAnswer) {
  return calls.map(({ name, arguments: given }, index) => ({
    index,
    id: `${id}-${index}`,
    type: 'function',
    function: { name, arguments: JSON.stringify(given) },
  }));
}

function createWholeAnswer(
  id: string,
  said: ModelAnswer,
  thinkMs: number,
  fault: ModelFault,
): ServedResponse {
  const tool_calls = createToolCalls(id, said);
  const message = {
    role: 'assistant',
    content: said.text ?? null,
    ...(tool_calls.length > 0 && { tool_calls }),
  };
  const finish_reason = tool_calls.length > 0 ? 'tool_calls' : 'stop';
  const choices = [{ index: 0, message, finish_reason }];
  const ends = fault.kind === 'none' ? 'whole' : fault.kind === 'cut' ? 'breaks' : 'never';
  const answer = createWholeResponse(
    { id, object: 'chat.completion', model: 'seed', choices, usage: USAGE },
    thinkMs,
    ends,
  );
  return fault.kind === 'none' ? answer : { ...answer, pieces: [] };
}

/** The number of pieces of an endless answer; the turn must have ended before the last one. */
const ENDLESS = 2_000;

function createStreamedAnswer(
  id: string,
  said: ModelAnswer,
  thinkMs: number,
  fault: ModelFault,
): ServedResponse {
  const event = (delta: object, rest: object = {}): string =>
    `data: ${JSON.stringify({ id, object: 'chat.completion.chunk', model: 'seed', choices: [{ index: 0, delta, finish_reason: null, ...rest }] })}\n\n`;
  const tool_calls = createToolCalls(id, said);
  const words = (said.text ?? '').match(/\S+\s*/g) ?? [];
  const begun = [
    { afterMs: thinkMs / 2, text: event({ role: 'assistant', content: '' }) },
    ...words.map((content) => ({ afterMs: thinkMs / 2 / words.length, text: event({ content }) })),
  ];
  const headers = { 'content-type': 'text/event-stream' };
  if (fault.kind === 'silent') return { status: 200, headers, pieces: [], ends: 'never' };
  if (fault.kind === 'cut') return { status: 200, headers, pieces: begun, ends: 'breaks' };
  if (fault.kind === 'endless') {
    const more = Array.from({ length: ENDLESS }, () => ({
      afterMs: 100,
      text: event({ content: 'and ' }),
    }));
    return { status: 200, headers, pieces: [...begun, ...more], ends: 'never' };
  }
  const finish_reason = tool_calls.length > 0 ? 'tool_calls' : 'stop';
  const usage = `data: ${JSON.stringify({ id, object: 'chat.completion.chunk', model: 'seed', choices: [], usage: USAGE })}\n\n`;
  const end = [
    ...(tool_calls.length > 0 ? [{ afterMs: 1, text: event({ tool_calls }) }] : []),
    { afterMs: 1, text: `${event({}, { finish_reason })}${usage}data: [DONE]\n\n` },
  ];
  return { status: 200, headers, pieces: [...begun, ...end] };
}
