import { type Capabilities, pluralize } from '@parley/core';
import type { ChannelAdapter, ChannelContext, StreamingCapability } from '../adapter.ts';
import { createLazyRoutes } from '../web/adapter.ts';
import { createEventHub, type EventHub } from '../web/events.ts';
import type { ApiAccount } from './api-account.ts';

/** Responses are not limited in length, so an answer is a single part. */
const NO_LIMIT = 4_000_000;

const CAPABILITIES: Capabilities = {
  target: { dialect: 'markdown', maxLength: NO_LIMIT, unit: 'utf16' },
  // Sending a part only lets the waiting request read it, so a send can safely be repeated.
  idempotentSend: true,
  typing: false,
  edit: false,
  delete: false,
  react: false,
  threads: false,
  buttons: false,
  streaming: 'append',
  media: [],
};

/**
 * The adapter does not open a connection: clients call the gateway, and each request waits for the
 * parts of its answer.
 */
export function createApiAdapter(context: ChannelContext<ApiAccount>): ChannelAdapter {
  const hub = createEventHub();
  const closing = new AbortController();
  const underWay = new Set<Promise<Response>>();
  const answer = createLazyRoutes(async () => {
    const { createApiRoutes } = await import('./routes.ts');
    return createApiRoutes({ context, hub, closing: closing.signal });
  });
  const clients = Object.keys(context.settings.clients).length;
  return {
    capabilities: CAPABILITIES,
    async start() {
      context.report({ kind: 'connected', as: `the API for ${pluralize(clients, 'client')}` });
    },
    async stop() {
      closing.abort();
      await Promise.allSettled(underWay);
      context.report({ kind: 'stopped' });
    },
    async send({ id, turnId, body, route }) {
      const shown = { partId: id, turnId, text: body.text, at: context.clock() };
      hub.publish(route.chatId, { type: 'part', ...shown });
      return { platformMessageId: id };
    },
    streaming: createHubStreaming(hub),
    http: {
      open: true,
      origins: context.settings.origins,
      async fetch(request, door) {
        const response = answer(request, door);
        underWay.add(response);
        return response.finally(() => underWay.delete(response));
      },
    },
  };
}

/** The minimum interval between writes to a stream, in ms. */
const STREAM_INTERVAL_MS = 50;

function createHubStreaming(hub: EventHub): StreamingCapability {
  return {
    minIntervalMs: STREAM_INTERVAL_MS,
    async update({ chatId }, turnId, answer) {
      if (!hub.isWatched(chatId)) return;
      const text = (await answer.show()).map((part) => part.text).join('');
      hub.publish(chatId, { type: 'stream', turnId, text });
    },
    end: async ({ chatId }, turnId) => hub.publish(chatId, { type: 'stream-end', turnId }),
  };
}
