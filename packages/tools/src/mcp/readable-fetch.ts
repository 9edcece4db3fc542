import { createBoundedFetch, LARGEST_MESSAGE } from './bounds.ts';
import { UnreadableResponseError } from './errors.ts';
import type { MessageReader } from './read-message.ts';
import { getOwnValue, toBlock } from './schema/json-block.ts';

type FetchFunction = typeof globalThis.fetch;

/** Listeners for events of an HTTP connection other than messages. */
interface HttpListener {
  readonly reader: MessageReader;
  /** Called when the server no longer knows the session of a request. */
  readonly onSessionLost: () => void;
}

/**
 * A `fetch` for the client library: limits the size of responses, corrects their content type, and
 * adapts their messages.
 */
export function createReadableFetch(
  fetch: FetchFunction,
  { reader, onSessionLost }: HttpListener,
): FetchFunction {
  const bounded = createBoundedFetch(fetch, LARGEST_MESSAGE);
  return async (input, init) => {
    const asked = parseRequest(init?.body);
    reader.sent(asked);
    const response = await bounded(input, init);
    if (!response.ok) return readErrorResponse(response, asked, init, onSessionLost);
    if (response.body === null || [202, 204].includes(response.status)) return response;
    const type = response.headers.get('content-type')?.toLowerCase() ?? '';
    if (type.includes('text/event-stream')) {
      return new Response(response.body.pipeThrough(createReadableEvents(reader)), response);
    }
    // The response to a message that is not a request, such as the end of a session, does not
    // contain a message.
    if (asked === undefined) return response;
    return readJsonResponse(response, type, reader, asked);
  };
}

function parseRequest(body: unknown): unknown {
  if (typeof body !== 'string' || !/^\s*[{[]/.test(body)) return undefined;
  return JSON.parse(body);
}

function isProtocolRequest(asked: unknown): boolean {
  return getOwnValue(toBlock(asked) ?? {}, 'id') !== undefined;
}

/** Reads a JSON document, regardless of the content type that the server declares. */
async function readJsonResponse(
  response: Response,
  type: string,
  reader: MessageReader,
  asked: unknown,
): Promise<Response> {
  const text = (await response.text()).replace(/^\uFEFF/, '').trim();
  if (/^(?:event|data|id|retry)?:/.test(text)) {
    const body = new Response(text).body?.pipeThrough(createReadableEvents(reader)) ?? null;
    return new Response(body, { headers: { ...toPlainHeaders(response), 'content-type': EVENTS } });
  }
  if (text.startsWith('<')) return new Response(text, { headers: { 'content-type': 'text/html' } });
  const messages = reader.read(parseTextAsJson(text));
  if (isProtocolRequest(asked) && messages.length === 0) {
    throw new UnreadableResponseError(`no message of the protocol in an answer of type ${type}`);
  }
  return new Response(JSON.stringify(messages), {
    headers: { ...toPlainHeaders(response), 'content-type': 'application/json' },
  });
}

const EVENTS = 'text/event-stream';

/** The headers without those describing the body, which is rewritten. */
function toPlainHeaders(response: Response): Record<string, string> {
  const {
    'content-length': _length,
    'content-encoding': _encoding,
    ...rest
  } = Object.fromEntries(response.headers);
  return rest;
}

function parseTextAsJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Requests whose failure tells the library which protocol version the server supports. */
const OPENING = new Set<unknown>(['initialize', 'server/discover']);

/** Reads a failed request. Some servers send a protocol error with an HTTP error status. */
async function readErrorResponse(
  response: Response,
  asked: unknown,
  init: RequestInit | undefined,
  onSessionLost: () => void,
): Promise<Response> {
  const inSession = new Headers(init?.headers).has('mcp-session-id');
  const { status } = response;
  if (status === 404 && inSession) onSessionLost();
  const request = toBlock(asked);
  const isOpening = OPENING.has(request?.method);
  if (!isProtocolRequest(asked) || isOpening || [401, 403, 404].includes(status)) return response;
  const text = await response.text();
  // The official server libraries respond like this after a restart.
  if (status === 400 && inSession && /session/i.test(text)) {
    onSessionLost();
    return new Response(text, response);
  }
  const said = toBlock(parseTextAsJson(text));
  if (toBlock(said?.error) === undefined) return new Response(text, response);
  const error = { jsonrpc: '2.0', id: request?.id, error: said?.error };
  return new Response(JSON.stringify(error), { headers: { 'content-type': 'application/json' } });
}

/** Adapts each event whose data is a message; other events of the old transport pass unchanged. */
function createReadableEvents(reader: MessageReader): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  let rest = '';
  let lines: string[] = [];
  const end = (): string => {
    const event = lines;
    lines = [];
    return event.length === 0 ? '' : formatEvent(event, reader);
  };
  const take = (text: string): string => {
    const all = `${rest}${text}`.split(/\r\n|\n|\r(?!$)/);
    rest = all.pop() ?? '';
    return all.map((line) => (line === '' ? end() : void lines.push(line))).join('');
  };
  return new TransformStream({
    transform(chunk, controller) {
      const text = take(decoder.decode(chunk, { stream: true }));
      if (text !== '') controller.enqueue(encoder.encode(text));
    },
    flush(controller) {
      // The last event counts even without the empty line that ends it.
      const text = `${take('\n')}${end()}`;
      if (text !== '') controller.enqueue(encoder.encode(text));
    },
  });
}

function formatEvent(lines: readonly string[], reader: MessageReader): string {
  const fields = lines.flatMap((line) => {
    const [, name = '', value = ''] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
    return name === '' ? [] : [[name, value] as const];
  });
  const data = fields.flatMap(([name, value]) => (name === 'data' ? value : [])).join('\n');
  const others = fields.filter(([name]) => name === 'id' || name === 'retry');
  const head = others.map(([name, value]) => `${name}: ${value}\n`).join('');
  const kind = fields.find(([name]) => name === 'event')?.[1];
  if (kind === 'endpoint') return `event: endpoint\n${head}data: ${data}\n\n`;
  const events = reader
    .read(parseTextAsJson(data))
    .map((message) => `data: ${JSON.stringify(message)}\n`);
  const [first = '', ...more] = events;
  if (first === '' && head === '') return '';
  return [`${head}${first}\n`, ...more.map((event) => `${event}\n`)].join('');
}
