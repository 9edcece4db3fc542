import type { ChannelAdapter, ChannelContext } from '@parley/channels';
import type { Capabilities, RenderTarget } from '@parley/contracts';
import { renderPrefix } from '@parley/markup';
import { createEventHub } from './event-hub.ts';
import type { WebFront } from './front.ts';

/** The only chat of a front: whoever holds the token is the owner, and talks in one place. */
export const CHAT_ID = 'main';

/** The owner's user id on web and terminal; `web:owner` and `terminal:owner` are owners. */
export const OWNER_ID = 'owner';

/** Pages redraw this often at most while an answer grows, in ms. */
const STREAM_EVERY_MS = 50;
/** Shown typing fades in the page after this; repeated while the agent works. */
const TYPING_EVERY_MS = 4_000;

/** Connects a front of our own: nothing to log in to, so it is connected once it has started. */
export function createWebAdapter(
  context: ChannelContext<unknown>,
  front: WebFront,
): ChannelAdapter {
  const hub = createEventHub();
  const routes = { context, hub, channel: front.channel, closing: new AbortController() };
  let app: Promise<{ fetch(request: Request): Response | Promise<Response> }> | undefined;
  return {
    capabilities: capabilitiesOf(front.target),
    async start() {
      context.report({ kind: 'connected', as: front.as });
    },
    async stop() {
      routes.closing.abort();
      context.report({ kind: 'stopped' });
    },
    async send(part) {
      const { id, turnId, body, route } = part;
      hub.publish(route.chatId, {
        type: 'part',
        partId: id,
        turnId,
        text: body.text,
        at: context.clock(),
      });
      return { platformMessageId: id };
    },
    typing: {
      repeatMs: TYPING_EVERY_MS,
      show: async ({ chatId }) => hub.publish(chatId, { type: 'typing' }),
    },
    streaming: {
      minIntervalMs: STREAM_EVERY_MS,
      async update({ chatId }, turnId, markdown) {
        hub.publish(chatId, { type: 'stream', turnId, text: renderPrefix(markdown, front.target) });
      },
      end: async ({ chatId }, turnId) => hub.publish(chatId, { type: 'stream-end', turnId }),
    },
    http: {
      async fetch(request) {
        app ??= import('./routes.ts').then(({ createRoutes }) => createRoutes(routes));
        return (await app).fetch(request);
      },
    },
  };
}

function capabilitiesOf(target: RenderTarget): Capabilities {
  return {
    target,
    // A page knows each part by its id and shows it once, however often it is told.
    idempotentSend: true,
    typing: true,
    edit: false,
    delete: false,
    react: false,
    threads: false,
    buttons: false,
    streaming: 'replace',
    media: [],
  };
}
