import { ParleyError } from '@parley/core';

/** The address of Redis and its credentials. `url` alone is enough for one server. */
export interface RedisLocation {
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

/** The prefix of keys and channels. */
export function redisKeyPrefix({ prefix = 'parley' }: Pick<RedisLocation, 'prefix'>): string {
  return prefix;
}

/**
 * The prefix of the keys of one queue. Redis Cluster hashes only the part in braces: all keys of a queue lie on one
 * node, as BullMQ’s scripts need it, and different queues on different ones.
 */
export function queuePrefix(place: Pick<RedisLocation, 'prefix'>, queue: string): string {
  return `{${redisKeyPrefix(place)}:${queue}}`;
}

/** Something the queue could not do; messages are safe in the tables either way. */
export class QueueError extends ParleyError {}

/** No part of the address but its scheme is shown: there may be a password in it. */
export function unknownUrl(url: string): QueueError {
  const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(url)?.[0] ?? url;
  return new QueueError({
    code: 'queue-url',
    message: `The queue cannot be at "${scheme}". Use memory: or redis://host:port.`,
    retryable: false,
  });
}
