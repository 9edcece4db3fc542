import type { ChannelContext, HistoryEntry } from '@parley/channels';
import { Hono } from 'hono';
import { streamSSE } from 'hono/streaming';
import { z } from 'zod';
import type { EventHub } from './event-hub.ts';
import { CHAT_ID, OWNER_ID } from './web-adapter.ts';
import type { WebHistoryEntry } from './web-event.ts';

/** What the routes of one front work with. */
export interface RouteDeps {
  readonly context: ChannelContext<unknown>;
  readonly hub: EventHub;
  readonly channel: string;
  /** Ends every open stream. */
  readonly closing: AbortController;
}

/** A message from a page. `id` is chosen by the page, so that sending again after a fault is harmless. */
const Posted = z.strictObject({
  id: z.string().regex(/^[\w-]{8,64}$/, 'must be 8 to 64 letters, digits, "-" or "_"'),
  text: z.string(),
});

/** Largest request, in bytes; the limit of a message's length is decided by ingress, with a kinder answer. */
const LARGEST_BODY = 4_000_000;
const HISTORY_ENTRIES = 200;
/** Proxies and browsers give up on a stream that is silent for a minute. */
const KEEP_ALIVE_MS = 20_000;

/** History, sending and live events of one front, below `/channels/<channel>/<account>`. */
export function createRoutes(deps: RouteDeps): Hono {
  const { context, hub, channel } = deps;
  const app = new Hono().basePath(`/channels/${channel}/${context.account}`);
  app.get('/history', async (c) => {
    const entries = await context.history(CHAT_ID, HISTORY_ENTRIES);
    return c.json({ entries: entries.map(shown) });
  });
  app.post('/messages', async (c) => {
    if (Number(c.req.header('content-length') ?? 0) > LARGEST_BODY) {
      return c.json({ error: 'That message is larger than 4 MB. Please send less at once.' }, 413);
    }
    const body = await readText(c.req.raw);
    if (body === null) return c.json({ error: 'The message is not valid UTF-8.' }, 400);
    const posted = Posted.safeParse(parseJson(body));
    if (!posted.success) return c.json({ error: z.prettifyError(posted.error) }, 400);
    const { id, text } = posted.data;
    const outcome = await context.receive(inbound(deps, id, text));
    if (outcome.kind === 'accepted' || outcome.kind === 'command') {
      hub.publish(CHAT_ID, { type: 'inbound', messageId: id, text, at: context.clock() });
    }
    return c.json({ outcome });
  });
  app.get('/events', (c) => streamEvents(c, deps));
  return app;
}

function streamEvents(c: Parameters<typeof streamSSE>[0], { hub, closing }: RouteDeps): Response {
  return streamSSE(c, async (stream) => {
    await new Promise<void>((resolve) => {
      const write = (event: object): void => {
        stream.writeSSE({ data: JSON.stringify(event) }).catch(resolve);
      };
      const unwatch = hub.watch(CHAT_ID, write);
      const alive = setInterval(() => write({ type: 'alive' }), KEEP_ALIVE_MS);
      const end = (): void => {
        clearInterval(alive);
        unwatch();
        resolve();
      };
      stream.onAbort(end);
      closing.signal.addEventListener('abort', end, { once: true });
      write({ type: 'alive' });
    });
  });
}

function inbound({ context, channel }: RouteDeps, id: string, text: string) {
  return {
    channel,
    account: context.account,
    messageId: id,
    chat: { id: CHAT_ID, type: 'direct' as const },
    sender: { id: OWNER_ID, name: 'Owner', isBot: false },
    text,
    mentions: [],
    addressed: true,
    sentAt: context.clock(),
    variables: {},
  };
}

function shown(entry: HistoryEntry): WebHistoryEntry {
  if (entry.kind === 'inbound') {
    const { messageId, text, at, outcome } = entry;
    return { type: 'inbound', messageId, text, at, outcome };
  }
  const { partId, turnId, body, at } = entry;
  return { type: 'part', partId, turnId, text: body.text, at };
}

/** The body as text, or null when it is not UTF-8: replacing characters would change what was said. */
async function readText(request: Request): Promise<string | null> {
  const bytes = await request.arrayBuffer();
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
