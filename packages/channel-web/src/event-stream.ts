import { guarded } from '@parley/channels';
import type { EventHub } from './event-hub.ts';
import type { WebEvent } from './web-event.ts';

/** What a stream of events needs. */
export interface EventStreamOptions {
  readonly hub: EventHub;
  readonly chatId: string;
  /** Ends the stream when it fires. */
  readonly closing: AbortSignal;
}

/** Proxies and browsers give up on a stream that is silent for a minute. */
const KEEP_ALIVE_MS = 20_000;
/** Behind by this many bytes, a watcher is spared unfinished answers: the next one says it all again. */
const SLOW_BYTES = 256_000;
/** Behind by this, a watcher does not read at all; it is let go and finds all of it in the history. */
const LOST_BYTES = 8_000_000;

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  // Asks proxies in between not to hold events back.
  'x-accel-buffering': 'no',
};

/** Live events of a chat for one watcher, as server-sent events, until either side ends it. */
export function eventStream(options: EventStreamOptions): Response {
  let end = (): void => undefined;
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        end = feed(controller, options, () => controller.close());
      },
      cancel: () => end(),
    },
    // Counts what waits to be read, in bytes; the watcher's own pace moves it on.
    new ByteLengthQueuingStrategy({ highWaterMark: LOST_BYTES }),
  );
  return new Response(body, { headers: HEADERS });
}

/** Writes events into a stream; returns the function that ends it. */
function feed(
  controller: ReadableStreamDefaultController<Uint8Array>,
  { hub, chatId, closing }: EventStreamOptions,
  close: () => void,
): () => void {
  const encoder = new TextEncoder();
  const write = (event: WebEvent | { readonly type: 'alive' }): void => {
    const behind = LOST_BYTES - (controller.desiredSize ?? 0);
    if (behind >= LOST_BYTES) finish();
    else if (behind < SLOW_BYTES || event.type !== 'stream') {
      controller.enqueue(encoder.encode(`data: ${JSON.stringify(event)}\n\n`));
    }
  };
  const unwatch = hub.watch(chatId, write);
  const alive = setInterval(
    guarded('keep-alive', () => write({ type: 'alive' })),
    KEEP_ALIVE_MS,
  );
  alive.unref();
  const end = (): void => {
    clearInterval(alive);
    unwatch();
    closing.removeEventListener('abort', finish);
  };
  const finish = (): void => {
    end();
    close();
  };
  closing.addEventListener('abort', finish, { once: true });
  write({ type: 'alive' });
  return end;
}
