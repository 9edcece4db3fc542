import type { Capabilities, RenderTarget } from '@parley/core';
import { joinParts } from '@parley/markup';
import type {
  ChannelAdapter,
  ChannelContext,
  SecretDoor,
  StreamingCapability,
} from '../adapter.ts';
import {
  createEventHub,
  createFollowingHub,
  type EventHub,
  toWebFile,
  toWebHistoryEntry,
} from './events.ts';
import type { WebFrontEnd } from './front.ts';

/**
 * The page hides a typing indicator after a few seconds, so the indicator is repeated while the
 * agent works.
 */
const TYPING_INTERVAL_MS = 4_000;
/** More entries than another gateway receives or sends between two polls. */
const FOLLOWED_ENTRIES = 50;

/**
 * Connects a built-in front end, which is connected as soon as it has started, because it has no
 * login.
 */
export function createWebAdapter(
  context: ChannelContext<unknown>,
  front: WebFrontEnd,
): ChannelAdapter {
  const hub = createHub(context);
  const closing = new AbortController();
  const underWay = new Set<Promise<Response>>();
  const answer = createLazyRoutes(async () => {
    const { createRoutes } = await import('./routes.ts');
    return createRoutes({ context, hub, channel: front.channel, closing: closing.signal });
  });
  return {
    capabilities: getFrontEndCapabilities(front),
    async start() {
      context.report({ kind: 'connected', as: front.as });
    },
    async stop() {
      closing.abort();
      await Promise.allSettled(underWay);
      context.report({ kind: 'stopped' });
    },
    async send({ id, turnId, body, buttons, file, route }) {
      const shown = { partId: id, turnId, text: body.text, at: context.clock() };
      hub.publish(route.chatId, {
        type: 'part',
        ...shown,
        ...(front.buttons && buttons && { buttons }),
        ...(file && { file: toWebFile(file) }),
      });
      return { platformMessageId: id };
    },
    typing: {
      repeatMs: TYPING_INTERVAL_MS,
      show: async ({ chatId }) => hub.publish(chatId, { type: 'typing' }),
    },
    streaming: createStreamingCapability(hub, front.target),
    http: {
      async fetch(request) {
        const response = answer(request);
        underWay.add(response);
        return response.finally(() => underWay.delete(response));
      },
    },
  };
}

/** The event hub, for a single gateway or for one among several. */
function createHub(context: ChannelContext<unknown>): EventHub {
  const hub = createEventHub();
  if (!context.isShared) return hub;
  const followers = new Map<string, EventHub>();
  const follow = (chatId: string): EventHub => {
    const newest = async () =>
      (await context.history(chatId, FOLLOWED_ENTRIES)).map(toWebHistoryEntry);
    const follower =
      followers.get(chatId) ?? createFollowingHub(hub, { chatId, newest, log: context.log });
    followers.set(chatId, follower);
    return follower;
  };
  return {
    publish: (chatId, event) => (followers.get(chatId) ?? hub).publish(chatId, event),
    watch: (chatId, listener) => follow(chatId).watch(chatId, listener),
    isWatched: hub.isWatched,
  };
}

interface LoadedRoutes {
  fetch(request: Request, env?: object): Response | Promise<Response>;
}

/**
 * The web framework is imported at the first request, so a gateway without visitors never loads it.
 */
export function createLazyRoutes(
  load: () => Promise<LoadedRoutes>,
): (request: Request, door?: SecretDoor) => Promise<Response> {
  let routes: Promise<LoadedRoutes> | undefined;
  return async (request, door) => {
    routes ??= load();
    return (await routes).fetch(request, { door });
  };
}

const MAX_BYTES = 50 * 1_024 * 1_024;

function getFrontEndCapabilities({ target, buttons }: WebFrontEnd): Capabilities {
  return {
    target,
    // A page recognizes each part by its id and shows it once, even if it arrives several times.
    idempotentSend: true,
    typing: true,
    edit: false,
    delete: false,
    react: false,
    threads: false,
    buttons,
    streaming: 'replace',
    media: ['image', 'audio', 'voice', 'video', 'document'],
    maxFileBytes: MAX_BYTES,
  };
}

/** The minimum interval between two updates of a growing answer on a page, in ms. */
const STREAM_INTERVAL_MS = 50;
/**
 * A front end has no length limit, but a part is complete once it has reached this length, so it is
 * not rendered again.
 */
const PART_LENGTH = 8_000;

/** Shows growing answers to viewers. Without viewers, no preview is rendered or held in memory. */
export function createStreamingCapability(
  hub: EventHub,
  { dialect }: RenderTarget,
): StreamingCapability {
  return {
    minIntervalMs: STREAM_INTERVAL_MS,
    maxLength: PART_LENGTH,
    async update({ chatId }, turnId, answer) {
      if (!hub.isWatched(chatId)) return;
      const text = joinParts(await answer.show(), dialect);
      hub.publish(chatId, { type: 'stream', turnId, text });
    },
    call: ({ chatId }, turnId, call) => hub.publish(chatId, { type: 'tool', turnId, ...call }),
    end: async ({ chatId }, turnId) => hub.publish(chatId, { type: 'stream-end', turnId }),
  };
}
