import { isIP } from 'node:net';
import { Cluster, type ClusterOptions, Redis, type RedisOptions } from 'ioredis';
import type { RedisPlace } from './redis-place.ts';

/** A connection to one server (also one that sentinels named) or to a cluster. */
export type RedisConnection = Redis | Cluster;

/**
 * What a connection is for. `ask`: a command that cannot be answered now fails now, because somebody
 * waits for it. `work` (BullMQ’s workers) and `listen` (live events): it waits until Redis is back.
 */
export type RedisUse = 'ask' | 'work' | 'listen';

/** A second is soon enough for people, and nothing to a Redis that has just come back. In ms. */
const RECONNECT_AT_MOST_MS = 1_000;
const ASK_MS = 2_000;

const CONNECT_MS = 5_000;
/** TCP asks after a connection that has been quiet for so long. In ms. */
const KEEP_ALIVE_AFTER_MS = 10_000;

/** How long a worker waits for a job in one command; then it asks again. */
export const BLOCK_SECONDS = 4;
/**
 * A connection that says nothing for so long while it owes an answer is dead, whatever TCP believes.
 * In ms.
 */
const SILENT_MS = 6_000;

const DEFAULT_PORT = 6379;
const SENTINEL_PORT = 26_379;

/** Begins to connect, and goes on trying until it is closed. Attach an `error` listener. */
export function connectRedis(place: RedisPlace, use: RedisUse): RedisConnection {
  const { cluster, sentinel } = place;
  const options = optionsFor(place, use);
  if (cluster !== undefined) return connectCluster(place, cluster.nodes, use);
  if (sentinel === undefined) return new Redis({ ...options, ...addressOf(place.url) });
  return new Redis({
    ...options,
    name: sentinel.name,
    sentinels: sentinel.nodes.map((node) => nodeAddress(node, SENTINEL_PORT)),
    ...(sentinel.username !== undefined && { sentinelUsername: sentinel.username }),
    ...(sentinel.password !== undefined && { sentinelPassword: sentinel.password }),
    ...(options.tls && { enableTLSForSentinelMode: true, sentinelTLS: {} }),
    sentinelCommandTimeout: ASK_MS,
    sentinelRetryStrategy: pauseBefore,
  });
}

/** How long to wait at a start for a Redis that may not be there. In ms. */
const OPEN_MS = 5_000;

/** What people are told then; a connection to a cluster gives no reason of its own. */
export const NOT_THERE = 'no answer within 5 s; is the address right?';

/** Resolves once commands are answered: true; false when that took longer than 5 s. */
export async function whenReady(connection: RedisConnection): Promise<boolean> {
  if (connection.status === 'ready') return true;
  return new Promise((resolve) => {
    const end = (isReady: boolean) => () => {
      clearTimeout(timer);
      connection.off('ready', ready);
      resolve(isReady);
    };
    const ready = end(true);
    const timer = setTimeout(end(false), OPEN_MS);
    connection.once('ready', ready);
  });
}

function connectCluster(place: RedisPlace, nodes: readonly string[], use: RedisUse): Cluster {
  const { retryStrategy, enableOfflineQueue, db, ...redisOptions } = optionsFor(place, use);
  // A certificate names hosts: they must not be turned into numbers before TLS has seen them.
  const dnsLookup: ClusterOptions['dnsLookup'] = (host, done) => done(null, host);
  const options = {
    redisOptions,
    enableOfflineQueue: enableOfflineQueue ?? true,
    clusterRetryStrategy: pauseBefore,
    ...(redisOptions.tls && { dnsLookup }),
  };
  const all = [addressOf(place.url), ...nodes.map((node) => nodeAddress(node, DEFAULT_PORT))];
  return new Cluster(all, options);
}

function optionsFor(place: RedisPlace, use: RedisUse): Options {
  const url = new URL(place.url);
  const username = place.username ?? decodeURIComponent(url.username);
  const password = place.password ?? decodeURIComponent(url.password);
  const db = Number.parseInt(url.pathname.slice(1), 10);
  return {
    ...(username !== '' && { username }),
    ...(password !== '' && { password }),
    ...(db > 0 && { db }),
    ...(url.protocol === 'rediss:' && { tls: {} }),
    retryStrategy: pauseBefore,
    connectTimeout: CONNECT_MS,
    keepAlive: KEEP_ALIVE_AFTER_MS,
    socketTimeout: SILENT_MS,
    ...(use === 'ask'
      ? {
          enableOfflineQueue: false,
          maxRetriesPerRequest: 0,
          commandTimeout: ASK_MS,
          autoResendUnfulfilledCommands: false,
        }
      : { maxRetriesPerRequest: null }),
  };
}

/** Without an option that changes the types of all answers. */
type Options = Omit<RedisOptions, 'replyMapping'>;

/** How long to wait before the next try, in ms. */
function pauseBefore(tries: number): number {
  return Math.min(tries * 100, RECONNECT_AT_MOST_MS);
}

function addressOf(url: string) {
  const { hostname, port } = new URL(url);
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  // 0 lets the system look for IPv4 and IPv6; a number says itself what it is.
  return { host, port: Number(port || DEFAULT_PORT), family: isIP(host) };
}

function nodeAddress(node: string, port: number) {
  const { hostname, port: written } = new URL(`redis://${node}`);
  return { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: Number(written || port) };
}
