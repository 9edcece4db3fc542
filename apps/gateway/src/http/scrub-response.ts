import { type Scrub, scrubJson } from '@parley/core/telemetry';

/** What may hold a secret; pages, scripts and pictures of the console are files of Parley itself. */
const TEXT =
  /^(?:application\/(?:json|problem\+json|openmetrics-text)|text\/(?:plain|event-stream))/i;

/**
 * The answer of a route without secrets (G18): JSON stays JSON, and the events of a stream are passed on
 * whole. Everything that leaves over HTTP comes through here.
 */
export async function scrubResponse(response: Response, scrub: Scrub): Promise<Response> {
  const type = response.headers.get('content-type') ?? '';
  if (response.body === null || !TEXT.test(type)) return response;
  if (type.startsWith('text/event-stream')) {
    return new Response(response.body.pipeThrough(scrubbedEvents(scrub)), response);
  }
  const text = await response.text();
  const clean = type.startsWith('application/json') ? scrubJson(text, scrub) : scrub(text);
  const headers = new Headers(response.headers);
  headers.delete('content-length');
  return new Response(clean, { status: response.status, headers });
}

function scrubbedEvents(scrub: Scrub): TransformStream<Uint8Array, Uint8Array> {
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
