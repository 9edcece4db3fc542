import { Duplex } from 'node:stream';
import { type Secrets, scrubJson } from '@parley/core/telemetry';

type Scrubber = Pick<Secrets, 'scrub' | 'stream'>;
type ByteStream = ReadableStream<Uint8Array>;

/**
 * Removes secrets from a route's response (G18). Every HTTP response is scrubbed, regardless of its
 * type. JSON stays valid, and the events of a stream are forwarded whole. All other bytes are
 * streamed, and stay unchanged if they do not contain secrets. A compressed body is decoded first,
 * because secrets cannot be found in compressed bytes.
 */
export async function scrubResponse(response: Response, secrets: Scrubber): Promise<Response> {
  const headers = scrubHeaders(response.headers, secrets);
  const { status, statusText } = response;
  if (response.body === null) return new Response(null, { status, statusText, headers });
  const body = await decodeBody(response.body, headers.get('content-encoding') ?? '');
  if (body === null) return createUnknownEncodingResponse();
  headers.delete('content-encoding');
  headers.delete('content-length');
  const scrubbed = await scrubBody(body, headers.get('content-type') ?? '', secrets);
  return new Response(scrubbed, { status, statusText, headers });
}

async function scrubBody(
  body: ByteStream,
  type: string,
  secrets: Scrubber,
): Promise<ByteStream | string> {
  if (/^text\/event-stream\b/i.test(type)) return body.pipeThrough(createEventScrubber(secrets));
  if (/^application\/(?:[\w.-]+\+)?json\b/i.test(type)) {
    return scrubJson(await new Response(body).text(), secrets.scrub);
  }
  return body.pipeThrough(createByteScrubber(secrets));
}

/** Cookies are not scrubbed, because a cookie is a secret that its browser has to receive. */
function scrubHeaders(given: Headers, { scrub }: Scrubber): Headers {
  const headers = new Headers(given);
  for (const [name, value] of given) {
    if (name !== 'set-cookie' && scrub(value) !== value) headers.set(name, scrub(value));
  }
  return headers;
}

/**
 * Decodes the body, starting with the encoding that was applied last; returns null if an encoding
 * is unknown.
 */
async function decodeBody(body: ByteStream, encodings: string): Promise<ByteStream | null> {
  const names = encodings
    .toLowerCase()
    .split(',')
    .map((name) => name.trim().replace(/^x-/, ''))
    .filter((name) => name !== '' && name !== 'identity');
  if (names.length === 0) return body;
  const zlib = await import('node:zlib');
  const decoders: Readonly<Record<string, () => Duplex>> = {
    gzip: zlib.createGunzip,
    deflate: zlib.createInflate,
    br: zlib.createBrotliDecompress,
    zstd: zlib.createZstdDecompress,
  };
  const chain = names.toReversed().map((name) => decoders[name]);
  if (chain.some((one) => one === undefined)) return null;
  return chain.reduce((rest, one) => (one === undefined ? rest : pipeThrough(rest, one())), body);
}

function pipeThrough(body: ByteStream, decoder: Duplex): ByteStream {
  const { readable, writable } = Duplex.toWeb(decoder);
  return body.pipeThrough({ readable, writable });
}

function createUnknownEncodingResponse(): Response {
  const text =
    'The response is compressed in a format that Parley cannot inspect, so it was not sent.\n';
  return new Response(text, { status: 502, headers: { 'content-type': 'text/plain' } });
}

/**
 * Decodes bytes as text with one byte per character, so that all bytes except those of secrets stay
 * unchanged.
 */
function createByteScrubber(secrets: Scrubber): TransformStream<Uint8Array, Uint8Array> {
  const scrubbed = secrets.stream();
  const write = (text: string, to: TransformStreamDefaultController<Uint8Array>): void => {
    if (text !== '') to.enqueue(Buffer.from(text, 'latin1'));
  };
  return new TransformStream({
    transform: (chunk, controller) =>
      write(scrubbed.push(Buffer.from(chunk).toString('latin1')), controller),
    flush: (controller) => write(scrubbed.end(), controller),
  });
}

function createEventScrubber({ scrub }: Scrubber): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  let open = '';
  return new TransformStream({
    transform(chunk, controller) {
      open += decoder.decode(chunk, { stream: true });
      const end = open.lastIndexOf('\n\n') + 2;
      if (end < 2) return;
      controller.enqueue(encoder.encode(scrub(open.slice(0, end))));
      open = open.slice(end);
    },
    flush: (controller) => controller.enqueue(encoder.encode(scrub(open))),
  });
}
