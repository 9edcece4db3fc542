import { randomUUID } from 'node:crypto';
import type { LiveBus, LiveEvent } from '@parley/core';
import {
  connectRedis,
  createRedisOutage,
  REDIS_UNREACHABLE,
  type RedisOutage,
  waitUntilReady,
} from './connect-redis.ts';
import { createEventBatch, decodeEvents, encodeEvents, toRemoteEvent } from './event-batch.ts';
import type { BusOptions, OpenLiveBus } from './local-bus.ts';
import { getRedisKeyPrefix } from './redis-location.ts';

type BusTopic = NonNullable<BusOptions['receives']>;

/**
 * The interval at which the subscribed connection, which otherwise does not expect replies, sends a
 * ping, in ms.
 */
const PING_MS = 5_000;

/**
 * Opens live events between processes over Redis pub/sub. Events are not stored, so no data can
 * accumulate. Listeners in this process are called synchronously and without Redis. Events from
 * other processes arrive in the order in which they were sent. Events published while Redis is
 * unreachable do not reach other processes.
 */
export async function openRedisBus(options: BusOptions, local: LiveBus): Promise<OpenLiveBus> {
  const { log, receives } = options;
  const self = randomUUID();
  const outage = createRedisOutage('live events', options, log);
  const [out, into] = [connectRedis(options, 'ask'), connectRedis(options, 'listen')];
  for (const connection of [out, into]) outage.watch(connection);
  const channel = (topic: BusTopic): string => `${getRedisKeyPrefix(options)}:live:${topic}`;
  into.on('message', (_channel: string, text: string) => {
    for (const event of decodeEvents(self, text)) local.publish(event);
  });
  const topics: BusTopic[] = receives === undefined ? ['turns', 'orders'] : [receives];
  // Subscribing waits until Redis is reachable. After a reconnect, the connection subscribes again
  // by itself.
  const subscribed = into
    .subscribe(...topics.map(channel))
    .catch((error: unknown) => void outage.note(error));
  const ping = setInterval(
    () => into.ping().catch((error: unknown) => void outage.note(error)),
    PING_MS,
  ).unref();
  const senders = {
    turns: createEventSender((text) => out.publish(channel('turns'), text), self, outage),
    orders: createEventSender((text) => out.publish(channel('orders'), text), self, outage),
  };
  if ((await waitUntilReady(out)) && (await waitUntilReady(into))) await subscribed;
  else outage.note(REDIS_UNREACHABLE);
  return {
    publish(event) {
      local.publish(event);
      if (event.type === 'inbox-changed' && event.isLocal) return;
      senders[getBusTopic(event)].send(toRemoteEvent(event));
    },
    subscribe: local.subscribe,
    async close() {
      clearInterval(ping);
      await Promise.all([senders.turns.close(), senders.orders.close()]);
      for (const connection of [out, into]) connection.disconnect();
    },
  };
}

/** The events for workers; all others are for gateways. */
const ORDERS: ReadonlySet<LiveEvent['type']> = new Set([
  'stop-turn',
  'message-waiting',
  'schedule-due',
]);

function getBusTopic({ type }: LiveEvent): BusTopic {
  return ORDERS.has(type) ? 'orders' : 'turns';
}

interface EventSender {
  send(event: LiveEvent): void;
  /** Waits for the message that is being sent, and then stops sending. */
  close(): Promise<void>;
}

/**
 * Sends one message at a time, so that events published in the meantime are joined in the next
 * batch.
 */
function createEventSender(
  publish: (text: string) => Promise<unknown>,
  self: string,
  outage: RedisOutage,
): EventSender {
  const batch = createEventBatch();
  let sending: Promise<void> | null = null;
  let isClosed = false;
  const sendAll = async (): Promise<void> => {
    while (!batch.isEmpty) {
      try {
        await publish(encodeEvents(self, batch.take()));
      } catch (error) {
        outage.note(error, 'live events are not reaching other processes');
      }
    }
    // This runs synchronously after the batch was found empty, so no event can be added in between.
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
