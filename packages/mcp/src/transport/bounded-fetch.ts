/** What a bounded answer may hold, in bytes. */
interface Bounds {
  readonly largest: number;
}

/**
 * A `fetch` whose answers are bounded: the whole of a document, each event of a stream. What exceeds it
 * breaks off with an error, before it fills the memory.
 */
export function boundedFetch(fetch: typeof globalThis.fetch, { largest }: Bounds): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    if (response.body === null) return response;
    const isStream = response.headers.get('content-type')?.includes('text/event-stream') === true;
    const body = response.body.pipeThrough(bound(largest, isStream));
    return new Response(body, response);
  };
}

/** Counts bytes; in a stream of events, an empty line begins the count anew. */
function bound(largest: number, isStream: boolean): TransformStream<Uint8Array, Uint8Array> {
  let size = 0;
  let isLineStart = false;
  return new TransformStream({
    transform(chunk, controller) {
      for (const byte of isStream ? chunk : []) {
        size += 1;
        if (byte === 0x0a) {
          if (isLineStart) size = 0;
          isLineStart = true;
        } else if (byte !== 0x0d) isLineStart = false;
      }
      if (!isStream) size += chunk.length;
      if (size > largest) controller.error(new Error(`it sent more than ${largest} bytes at once`));
      else controller.enqueue(chunk);
    },
  });
}
