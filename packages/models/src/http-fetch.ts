import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { createDecompressor, isPlainHttp, postRequest } from './http-exchange.ts';

type Fetch = typeof globalThis.fetch;

/**
 * The maximum size of a stream event, or of a response that is not a stream, in bytes: a hundred
 * times what providers send at a time. A parser buffers an event until the event is complete.
 */
const MAX_EVENT_BYTES = 4 * 1_024 * 1_024;
/** The maximum number of bytes that are buffered ahead of the reader. */
const READ_AHEAD = 65_536;

/**
 * `fetch` for the AI SDK over node:http, which takes a quarter of the processor time of Node's
 * `fetch` for a request of 60 KB. It uses the connections of Node's global agents: they are kept
 * alive, and go through a proxy if `NODE_USE_ENV_PROXY` is set. Requests other than text sent by
 * POST, and requests that the server redirects, are sent with Node's `fetch`.
 */
export const httpFetch: Fetch = async (input, init = {}) => {
  const { method, body, signal } = init;
  const url = typeof input === 'string' ? URL.parse(input) : null;
  if (url === null || !isPlainHttp(url) || method !== 'POST' || typeof body !== 'string') {
    return globalThis.fetch(input, init);
  }
  signal?.throwIfAborted();
  const answer = await postRequest(
    url,
    toOutgoingHeaders(init.headers),
    encodeUtf8(body),
    signal ?? null,
  );
  const { statusCode: status = 0, statusMessage: statusText = '', headers } = answer;
  if (status >= 300 && status < 400 && headers.location !== undefined) {
    answer.destroy();
    return globalThis.fetch(input, init);
  }
  const isEmpty = [204, 205, 304].includes(status);
  if (isEmpty) answer.resume();
  const stream = isEmpty ? null : toBodyStream(answer);
  return new Response(stream, { status, statusText, headers: toHeaders(answer) });
};

/** The AI SDK passes a plain object with all names in lower case. */
function toOutgoingHeaders(headers: RequestInit['headers'] = {}): OutgoingHttpHeaders {
  const isPlain = !(headers instanceof Headers) && !Array.isArray(headers);
  return isPlain ? headers : Object.fromEntries(new Headers(headers));
}

/**
 * Nearly every prompt has a character beyond Latin-1, so V8 stores the whole request in UTF-16; the
 * built-in conversion to UTF-8 takes three times as long.
 */
function encodeUtf8(text: string): Uint8Array {
  const { transcode } = process.getBuiltinModule('node:buffer');
  return transcode(Buffer.from(text.toWellFormed(), 'utf16le'), 'utf16le', 'utf8');
}

function toHeaders({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    headers.append(rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '');
  }
  return headers;
}

/** Returns the body as a stream. Data that arrived together forms one chunk. */
function toBodyStream(answer: IncomingMessage): ReadableStream<Uint8Array> {
  const decoder = createDecompressor(answer);
  const { pipeline } = process.getBuiltinModule('node:stream');
  // An error on either side ends the decoder, whose reader receives it.
  const source = decoder === null ? answer : pipeline(answer, decoder, () => undefined);
  const isEvents = answer.headers['content-type']?.includes('event-stream') === true;
  const join = isEvents ? createEventJoiner() : (piece: Buffer) => piece;
  let unended = 0;
  let isOpen = true;
  const close = (over: () => void) => {
    if (isOpen) over();
    isOpen = false;
  };
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const fail = (error: unknown) => close(() => controller.error(error));
        source.on('readable', () => {
          if (!isOpen || (controller.desiredSize ?? 0) <= 0) return;
          try {
            read(controller);
          } catch (error) {
            fail(error);
            source.destroy();
          }
        });
        source.once('end', () => close(() => controller.close()));
        source.on('error', fail);
      },
      pull(controller) {
        try {
          read(controller);
        } catch (error) {
          source.destroy();
          throw error;
        }
      },
      cancel: () => close(() => source.destroy()),
    },
    new ByteLengthQueuingStrategy({ highWaterMark: READ_AHEAD }),
  );

  function read(controller: ReadableStreamDefaultController<Uint8Array>): void {
    const piece: Buffer | null = source.read();
    if (piece === null) return;
    const end = isEvents ? piece.lastIndexOf('\n') : -1;
    unended = end === -1 ? unended + piece.length : piece.length - end;
    if (unended > MAX_EVENT_BYTES)
      throw new Error(`it sent more than ${MAX_EVENT_BYTES} bytes at once`);
    controller.enqueue(join(piece));
  }
}

/**
 * An Anthropic event that contains only one fragment of text or reasoning: the JSON before the
 * fragment, the fragment as escaped in JSON, and the JSON after it.
 */
const PIECE_EVENT = new RegExp(
  [
    String.raw`^((?:event: \w+\n)?data: \{[^\n]*[{,] ?"delta": ?\{"type": ?"\w+_delta", ?`,
    '"(?:text|thinking)": ?")',
    String.raw`([^"\\\n]*(?:\\.[^"\\\n]*)*)`,
    String.raw`("\}[^\n]*)$`,
  ].join(''),
);
const END = '\n\n';

/**
 * Creates a function that processes the chunks of one stream of server-sent events in order.
 * Adjacent events that differ only in their text fragment are merged into one event: each event
 * costs the AI SDK three web streams and a validation, and a person sees the text at the same
 * moment. Events in any other form pass unchanged.
 */
export function createEventJoiner(): (piece: Buffer) => Buffer {
  let isWhole = true;
  return (piece) => {
    const startsWhole = isWhole;
    isWhole = piece.subarray(-END.length).equals(END_BYTES);
    // A partial event may end in the middle of a character.
    return startsWhole && isWhole ? Buffer.from(joinEvents(piece.toString())) : piece;
  };
}

const END_BYTES = Buffer.from(END);

/** A text fragment and the event that surrounds it. */
interface PendingEvent {
  readonly head: string;
  text: string;
  readonly tail: string;
}

function joinEvents(events: string): string {
  let joined = '';
  let open: PendingEvent | null = null;
  const close = () => {
    if (open !== null) joined += open.head + open.text + open.tail + END;
    open = null;
  };
  for (const event of events.slice(0, -END.length).split(END)) {
    const [, head = '', text = '', tail = ''] = PIECE_EVENT.exec(event) ?? [];
    if (open !== null && open.head === head && open.tail === tail) {
      open.text += text;
      continue;
    }
    close();
    if (head === '') joined += event + END;
    else open = { head, text, tail };
  }
  close();
  return joined;
}
