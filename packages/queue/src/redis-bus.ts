import { randomUUID } from 'node:crypto';
import type { LiveBus, LiveEvent } from '@parley/core';
import {
  connectRedis,
  REDIS_UNREACHABLE,
  type RedisOutage,
  redisOutage,
  whenReady,
} from './connect-redis.ts';
import { createEventBatch, decodeEvents, encodeEvents, forOthers } from './event-batch.ts';
import type { BusOptions, OpenBus } from './local-bus.ts';
import { redisKeyPrefix } from './redis-location.ts';

type Topic = NonNullable<BusOptions['receives']>;

/** Check interval of the listening connection, which otherwise expects no answer, in ms. */
const PING_MS = 5_000;

/**
 * Live events between processes, by publish and subscribe of Redis: nothing is kept, so nothing can
 * grow. Listeners of this process hear its events at once and without Redis; from the others they come
 * in the order of their sending. Whatever is published while Redis is away is lost to the others.
 */
export async function openRedisBus(options: BusOptions, local: LiveBus): Promise<OpenBus> {
  const { log, receives } = options;
  const self = randomUUID();
  const outage = redisOutage('live events', options, log);
  const [out, into] = [connectRedis(options, 'ask'), connectRedis(options, 'listen')];
  for (const connection of [out, into]) outage.watch(connection);
  const channel = (topic: Topic): string => `${redisKeyPrefix(options)}:live:${topic}`;
  into.on('message', (_channel: string, text: string) => {
    for (const event of decodeEvents(self, text)) local.publish(event);
  });
  const topics: Topic[] = receives === undefined ? ['turns', 'orders'] : [receives];
  // Waits until Redis is there; whenever it comes back, the connection subscribes by itself.
  const subscribed = into
    .subscribe(...topics.map(channel))
    .catch((error: unknown) => void outage.note(error));
  const ping = setInterval(
    () => into.ping().catch((error: unknown) => void outage.note(error)),
    PING_MS,
  ).unref();
  const senders = {
    turns: createSender((text) => out.publish(channel('turns'), text), self, outage),
    orders: createSender((text) => out.publish(channel('orders'), text), self, outage),
  };
  if ((await whenReady(out)) && (await whenReady(into))) await subscribed;
  else outage.note(REDIS_UNREACHABLE);
  return {
    publish(event) {
      local.publish(event);
      if (event.type === 'inbox-changed' && event.isLocal) return;
      senders[topicOf(event)].send(forOthers(event));
    },
    subscribe: local.subscribe,
    async close() {
      clearInterval(ping);
      await Promise.all([senders.turns.close(), senders.orders.close()]);
      for (const connection of [out, into]) connection.disconnect();
    },
  };
}

/** The events for workers; everything else is for gateways. */
const ORDERS: ReadonlySet<LiveEvent['type']> = new Set([
  'stop-turn',
  'message-waiting',
  'schedule-due',
]);

function topicOf({ type }: LiveEvent): Topic {
  return ORDERS.has(type) ? 'orders' : 'turns';
}

interface Sender {
  send(event: LiveEvent): void;
  /** Waits for what is under way; nothing is sent any more. */
  close(): Promise<void>;
}

/** One message at a time, so that what comes meanwhile waits together and is joined. */
function createSender(
  publish: (text: string) => Promise<unknown>,
  self: string,
  outage: RedisOutage,
): Sender {
  const batch = createEventBatch();
  let sending: Promise<void> | null = null;
  let isClosed = false;
  const sendAll = async (): Promise<void> => {
    while (!batch.isEmpty) {
      try {
        await publish(encodeEvents(self, batch.take()));
      } catch (error) {
        outage.note(error, 'live events do not reach other processes');
      }
    }
    // In the same breath as the last look at the batch: nothing can be added between the two.
    sending = null;
  };
  return {
    send(event) {
      if (isClosed) return;
      batch.add(event);
      sending ??= sendAll();
    },
    async close() {
      isClosed = true;
      await sending;
    },
  };
}
