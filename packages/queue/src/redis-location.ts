import { ParleyError } from '@parley/core';

/** The Redis address and its credentials; for one server, `url` is enough. */
export interface RedisLocation {
  /** `redis://`, or `rediss://` for TLS, with host, port, user, password and database number. */
  readonly url: string;
  /**
   * The prefix for every key and channel, so that several installations can share one Redis server;
   * defaults to `parley`.
   */
  readonly prefix?: string | undefined;
  /** Overrides the user name in the URL. */
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  /**
   * The sentinels to ask for the current master; the host in the URL is then ignored. Sentinels as
   * `host:port`; the default port is 26379.
   */
  readonly sentinel?:
    | {
        readonly name: string;
        readonly nodes: readonly string[];
        readonly username?: string | undefined;
        readonly password?: string | undefined;
      }
    | undefined;
  /**
   * Additional Redis Cluster nodes besides the one in the URL, as `host:port`; the default port is
   * 6379.
   */
  readonly cluster?: { readonly nodes: readonly string[] } | undefined;
}

/** Returns the prefix for keys and channels. */
export function getRedisKeyPrefix({ prefix = 'parley' }: Pick<RedisLocation, 'prefix'>): string {
  return prefix;
}

/**
 * Returns the prefix for all keys of one queue. Redis Cluster hashes only the part in braces, so
 * all keys of a queue are on one node, as BullMQ’s scripts require, while different queues may be
 * on different nodes.
 */
export function getQueuePrefix(place: Pick<RedisLocation, 'prefix'>, queue: string): string {
  return `{${getRedisKeyPrefix(place)}:${queue}}`;
}

/** A failure of the queue, which never affects the messages in the tables. */
export class QueueError extends ParleyError {}

/** Shows only the scheme of the URL, because the rest may contain a password. */
export function createUnknownUrlError(url: string): QueueError {
  const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(url)?.[0] ?? url;
  return new QueueError({
    code: 'queue-url',
    message: `Unsupported queue URL "${scheme}". Use memory: or redis://host:port.`,
    retryable: false,
  });
}
