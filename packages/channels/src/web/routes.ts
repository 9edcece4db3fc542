import type { InboundMessage } from '@parley/core';
import { type Context, Hono } from 'hono';
import { z } from 'zod';
import type { ChannelContext } from '../adapter.ts';
import {
  type EventHub,
  eventStream,
  shownEntry,
  type WebHistory,
  type WebReceipt,
} from './events.ts';
import { CHAT_ID, OWNER_ID } from './front.ts';

/** What the routes of one front work with. */
interface RouteDeps {
  readonly context: ChannelContext<unknown>;
  readonly hub: EventHub;
  readonly channel: string;
  /** Fires when the gateway stops taking messages; ends every open stream. */
  readonly closing: AbortSignal;
}

/** A message from a page. `id` is chosen by the page, so that sending again after a fault is harmless. */
const Posted = z.strictObject({
  id: z.string().regex(/^[\w-]{8,64}$/, 'must be 8 to 64 letters, digits, "-" or "_"'),
  text: z.string(),
});

/** Largest request, in bytes; the limit of a message's length is decided by ingress, with a kinder answer. */
const LARGEST_BODY = 4_000_000;
const HISTORY_ENTRIES = 200;

/** History, sending and live events of one front, below `/channels/<channel>/<account>`. */
export function createRoutes(deps: RouteDeps): Hono {
  const { context, hub, channel, closing } = deps;
  const app = new Hono().basePath(`/channels/${channel}/${context.account}`);
  app.get('/history', async (c) => {
    const entries = await context.history(CHAT_ID, HISTORY_ENTRIES);
    c.header('cache-control', 'no-store');
    const history: WebHistory = { entries: entries.map(shownEntry), commands: context.commands };
    return c.json(history);
  });
  app.post('/messages', async (c) => {
    if (closing.aborted) return c.json({ error: 'Parley is shutting down.' }, 503);
    const body = await readBody(c.req.raw, LARGEST_BODY);
    if (body.kind === 'too-large') {
      return c.json({ error: 'That message is larger than 4 MB. Please send less at once.' }, 413);
    }
    if (body.kind === 'not-utf8') return c.json({ error: 'The message is not valid UTF-8.' }, 400);
    const posted = Posted.safeParse(parseJson(body.text));
    if (!posted.success) return c.json({ error: z.prettifyError(posted.error) }, 400);
    return take(c, deps, posted.data);
  });
  app.get('/events', (c) => {
    if (closing.aborted) return c.json({ error: 'Parley is shutting down.' }, 503);
    // No client would read the stream, nor end it.
    if (c.req.method === 'HEAD') return c.body(null);
    return eventStream({ hub, chatId: CHAT_ID, closing });
  });
  app.notFound((c) => c.json({ error: `There is no ${c.req.path} here.` }, 404));
  app.onError((error, c) => {
    // The page tries again by itself: nothing is lost while the database is away.
    context.log.error({ path: c.req.path, error }, 'web request failed');
    return c.json({ error: 'Parley could not do that just now. Please try again.' }, 503);
  });
  return app;
}

async function take(c: Context, deps: RouteDeps, { id, text }: z.infer<typeof Posted>) {
  // Taken before the message is stored: a quick answer may be published first, and must not look older.
  const at = deps.context.clock();
  const outcome = await deps.context.receive(inbound(deps, id, text, at));
  if (outcome.kind === 'accepted' || outcome.kind === 'command') {
    deps.hub.publish(CHAT_ID, { type: 'inbound', messageId: id, text, at });
  }
  const receipt: WebReceipt = { outcome, at };
  return c.json(receipt);
}

function inbound(
  { context, channel }: RouteDeps,
  id: string,
  text: string,
  sentAt: number,
): InboundMessage {
  return {
    channel,
    account: context.account,
    messageId: id,
    chat: { id: CHAT_ID, type: 'direct' },
    sender: { id: OWNER_ID, name: 'Owner', isBot: false },
    text,
    mentions: [],
    addressed: true,
    sentAt,
    variables: {},
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The text of a request, or why it cannot be had. */
type Body =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'too-large' }
  | { readonly kind: 'not-utf8' };

/**
 * Reads a request of at most `limit` bytes, whether it says its length or not. Bytes that are no
 * UTF-8 are refused: replacing them would change what was said.
 */
async function readBody(request: Request, limit: number): Promise<Body> {
  if (Number(request.headers.get('content-length') ?? 0) > limit) return { kind: 'too-large' };
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let text = '';
  let size = 0;
  try {
    for await (const chunk of request.body ?? []) {
      size += chunk.byteLength;
      if (size > limit) return { kind: 'too-large' };
      text += decoder.decode(chunk, { stream: true });
    }
    return { kind: 'text', text: text + decoder.decode() };
  } catch (error) {
    if (error instanceof TypeError) return { kind: 'not-utf8' };
    throw error;
  }
}
