/** The maximum size of a message from a server, in bytes; it is enough for a screenshot. */
export const LARGEST_MESSAGE = 16 * 1_024 * 1_024;

/**
 * The maximum number of consecutive lines from a server without a response; far more than the
 * progress reports of one call.
 */
export const MAX_UNASKED_LINES = 10_000;

/** The limits on the length of a line and on consecutive lines without a response. */
interface LineBounds {
  readonly bytes: number;
  readonly lines: number;
}

/**
 * Assembles lines from chunks; the chunks of a line are joined only once. `takeLine` returns
 * whether the line answered a request.
 * @returns A function that accepts the next bytes and returns the limit that they exceed, after
 * which it accepts no more.
 */
export function splitLines(
  bounds: LineBounds,
  takeLine: (line: string) => boolean,
): (chunk: Buffer) => keyof LineBounds | null {
  let pieces: Buffer[] = [];
  let size = 0;
  let unasked = 0;
  let exceeded: keyof LineBounds | null = null;
  const end = (): void => {
    const line = Buffer.concat(pieces).toString('utf8').trim();
    pieces = [];
    size = 0;
    unasked = line !== '' && takeLine(line) ? 0 : unasked + 1;
    if (unasked > bounds.lines) exceeded = 'lines';
  };
  return (chunk) => {
    let rest = chunk;
    while (exceeded === null && rest.length > 0) {
      const at = rest.indexOf(0x0a);
      const piece = at === -1 ? rest : rest.subarray(0, at);
      size += piece.length;
      if (size > bounds.bytes) exceeded = 'bytes';
      else pieces.push(piece);
      if (at === -1) break;
      rest = rest.subarray(at + 1);
      if (exceeded === null) end();
    }
    if (exceeded !== null) pieces = [];
    return exceeded;
  };
}

/**
 * A `fetch` that limits responses: the total size of a document, and the size and number of events
 * in a stream. A response that exceeds `largest` bytes is aborted with an error before it fills the
 * memory.
 */
export function createBoundedFetch(fetch: typeof globalThis.fetch, largest: number): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    if (response.body === null) return response;
    const isStream = response.headers.get('content-type')?.includes('text/event-stream') === true;
    const body = response.body.pipeThrough(createSizeLimiter(largest, isStream));
    return new Response(body, response);
  };
}

/**
 * Counts bytes; in an event stream, an empty line restarts the count, and the number of events is
 * limited.
 */
function createSizeLimiter(
  largest: number,
  isStream: boolean,
): TransformStream<Uint8Array, Uint8Array> {
  let size = 0;
  let events = 0;
  let isLineStart = false;
  return new TransformStream({
    transform(chunk, controller) {
      for (const byte of isStream ? chunk : []) {
        size += 1;
        if (byte === 0x0a) {
          if (isLineStart) {
            size = 0;
            events += 1;
          }
          isLineStart = true;
        } else if (byte !== 0x0d) isLineStart = false;
      }
      if (!isStream) size += chunk.length;
      if (size > largest) controller.error(new Error(`it sent more than ${largest} bytes at once`));
      else if (events > MAX_UNASKED_LINES)
        controller.error(new Error(`it sent more than ${MAX_UNASKED_LINES} events in one answer`));
      else controller.enqueue(chunk);
    },
  });
}
