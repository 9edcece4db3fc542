import {
  type FreshParts,
  type LiveBus,
  type LiveEvent,
  type Logger,
  ParleyError,
  reasonOf,
} from '@parley/core';

/** A live bus that is closed when its process ends; later events stay in this process. */
export interface OpenBus extends LiveBus {
  close(): Promise<void>;
}

/** Where to open the bus. */
export interface BusOptions extends RedisPlace {
  /** `memory:` for one process, `redis://…` between processes. */
  readonly url: string;
  readonly log: Logger;
  /** Of others: `turns` are signs of life and deliveries, for gateways; `orders` is what workers obey. Absent: both. */
  readonly receives?: 'turns' | 'orders' | undefined;
}

/** Opens the live bus. Resolves without Redis, too: live events are lost until it is there. */
export async function openBus(options: BusOptions): Promise<OpenBus> {
  if (options.url === 'memory:') return { ...createLocalBus(options.log), async close() {} };
  if (!/^rediss?:\/\//.test(options.url)) throw unknownUrl(options.url);
  const { openRedisBus } = await import('./redis-bus.ts');
  return openRedisBus(options);
}

/** Wakes the deliveries of a chat: here at once, in the gateway that is connected as the account by one publish. */
export type WakeDelivery = (
  channel: string,
  account: string,
  chatId: string,
  fresh?: FreshParts,
) => Promise<void>;

/** Makes it from a bus. */
export function wakeDeliveryOn(bus: LiveBus): WakeDelivery {
  return async (channel, account, chatId, fresh) =>
    bus.publish({ type: 'delivery-due', channel, account, chatId, fresh });
}

/** No part of the address but its scheme is shown: there may be a password in it. */
export function unknownUrl(url: string): QueueError {
  const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(url)?.[0] ?? url;
  return new QueueError({
    code: 'queue-url',
    message: `The queue cannot be at "${scheme}". Use memory: or redis://host:port.`,
    retryable: false,
  });
}

/** The live bus of one process: calls its listeners at once, in the order of subscribing. */
export function createLocalBus(log: Logger): LiveBus {
  const listeners = new Set<(event: LiveEvent) => void>();
  return {
    publish(event) {
      for (const listener of listeners) {
        try {
          listener(event);
        } catch (error) {
          log.error({ event: event.type, reason: reasonOf(error) }, 'a live listener failed');
        }
      }
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** Where Redis is and how to get in. `url` alone is enough for one server. */
export interface RedisPlace {
  /** `redis://` or, with TLS, `rediss://`; says host, port, user, password and number of the database. */
  readonly url: string;
  /** Begins every key and channel, so that several installations can share one Redis; `parley` when absent. */
  readonly prefix?: string | undefined;
  /** Overrides the URL. */
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  /** Asked who the master is; the host of the URL is not used then. `host:port`, 26379 without a port. */
  readonly sentinel?:
    | {
        readonly name: string;
        readonly nodes: readonly string[];
        readonly username?: string | undefined;
        readonly password?: string | undefined;
      }
    | undefined;
  /** The URL is one node of a Redis Cluster; these are more to begin with. `host:port`, 6379 without a port. */
  readonly cluster?: { readonly nodes: readonly string[] } | undefined;
}

/** What keys and channels begin with. */
export function prefixOf({ prefix = 'parley' }: Pick<RedisPlace, 'prefix'>): string {
  return prefix;
}

/**
 * What the keys of one queue begin with. Redis Cluster hashes only the part in braces: all keys of a
 * queue lie on one node, as BullMQ’s scripts need it, and different queues on different ones.
 */
export function queuePrefix(place: Pick<RedisPlace, 'prefix'>, queue: string): string {
  return `{${prefixOf(place)}:${queue}}`;
}

/** Something the queue could not do; messages are safe in the tables either way. */
export class QueueError extends ParleyError {}
