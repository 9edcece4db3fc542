import { once } from 'node:events';
import { isIP } from 'node:net';
import { type Logger, reasonOf } from '@parley/core';
import { Cluster, type ClusterOptions, Redis, type RedisOptions } from 'ioredis';
import { QueueError, type RedisLocation } from './redis-location.ts';

/** A connection to a single server, which Sentinel may have chosen, or to a cluster. */
export type RedisConnection = Redis | Cluster;

/**
 * What a connection is used for. On an `ask` connection, a command fails at once while Redis is
 * unreachable, because a caller is waiting for the answer. On `work` (BullMQ's workers) and
 * `listen` (live events) connections, a command waits until Redis is back.
 */
type RedisConnectionRole = 'ask' | 'work' | 'listen';

/**
 * The maximum delay before reconnecting, in ms: short enough for users, but no burden for a Redis
 * server that has just restarted.
 */
const RECONNECT_AT_MOST_MS = 1_000;
const ASK_MS = 2_000;

const CONNECT_MS = 5_000;
/** Idle time before TCP sends a keep-alive probe, in ms. */
const KEEP_ALIVE_AFTER_MS = 10_000;

/**
 * How long a worker's blocking command waits for a job, in seconds; the worker then repeats the
 * command.
 */
export const BLOCK_SECONDS = 4;
/**
 * The time in ms after which a connection is closed that waits for a reply and receives nothing,
 * even if TCP considers it alive.
 */
const SILENT_MS = 6_000;

const DEFAULT_PORT = 6379;
const SENTINEL_PORT = 26_379;

/**
 * Starts connecting to Redis and keeps trying until the connection is closed; the caller must
 * attach an `error` listener.
 */
export function connectRedis(place: RedisLocation, use: RedisConnectionRole): RedisConnection {
  const { cluster, sentinel } = place;
  const options = getConnectionOptions(place, use);
  if (cluster !== undefined) return connectCluster(place, cluster.nodes, use);
  if (sentinel === undefined) return new Redis({ ...options, ...parseRedisAddress(place.url) });
  return new Redis({
    ...options,
    name: sentinel.name,
    sentinels: sentinel.nodes.map((node) => parseNodeAddress(node, SENTINEL_PORT)),
    ...(sentinel.username !== undefined && { sentinelUsername: sentinel.username }),
    ...(sentinel.password !== undefined && { sentinelPassword: sentinel.password }),
    ...(options.tls && { enableTLSForSentinelMode: true, sentinelTLS: {} }),
    sentinelCommandTimeout: ASK_MS,
    sentinelRetryStrategy: computeReconnectDelay,
  });
}

/** How long startup waits for Redis to answer, in ms. */
const OPEN_MS = 5_000;

/** Shown to users as the reason, because a cluster connection does not report one. */
export const REDIS_UNREACHABLE = 'no answer within 5 s; check the address';

/** Resolves to true once Redis accepts commands, or to false after 5 s. */
export async function waitUntilReady(connection: RedisConnection): Promise<boolean> {
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

function connectCluster(
  place: RedisLocation,
  nodes: readonly string[],
  use: RedisConnectionRole,
): Cluster {
  const { retryStrategy, enableOfflineQueue, db, ...redisOptions } = getConnectionOptions(
    place,
    use,
  );
  // TLS checks the host name against the certificate, so the name must not be resolved to an IP
  // address first.
  const dnsLookup: ClusterOptions['dnsLookup'] = (host, done) => done(null, host);
  const options = {
    redisOptions,
    enableOfflineQueue: enableOfflineQueue ?? true,
    clusterRetryStrategy: computeReconnectDelay,
    ...(redisOptions.tls && { dnsLookup }),
  };
  const all = [
    parseRedisAddress(place.url),
    ...nodes.map((node) => parseNodeAddress(node, DEFAULT_PORT)),
  ];
  return new Cluster(all, options);
}

function getConnectionOptions(place: RedisLocation, use: RedisConnectionRole): Options {
  const url = new URL(place.url);
  const username = place.username ?? decodeURIComponent(url.username);
  const password = place.password ?? decodeURIComponent(url.password);
  const db = Number.parseInt(url.pathname.slice(1), 10);
  return {
    ...(username !== '' && { username }),
    ...(password !== '' && { password }),
    ...(db > 0 && { db }),
    ...(url.protocol === 'rediss:' && { tls: {} }),
    retryStrategy: computeReconnectDelay,
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

/** The ioredis options, except the one that changes the types of all replies. */
type Options = Omit<RedisOptions, 'replyMapping'>;

/** Computes the delay before the next connection attempt, in ms. */
function computeReconnectDelay(tries: number): number {
  return Math.min(tries * 100, RECONNECT_AT_MOST_MS);
}

function parseRedisAddress(url: string) {
  const { hostname, port } = new URL(url);
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  // The family 0 allows both IPv4 and IPv6; `isIP` returns the family of an IP address.
  return { host, port: Number(port || DEFAULT_PORT), family: isIP(host) };
}

function parseNodeAddress(node: string, port: number) {
  const { hostname, port: written } = new URL(`redis://${node}`);
  return { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: Number(written || port) };
}

/**
 * Logs a Redis outage once, even if several connections and commands detect it; the log counts
 * repetitions.
 */
export interface RedisOutage {
  /** Starts handling the events of a connection. */
  watch(connection: RedisConnection): void;
  /**
   * Logs an error that no watched connection reported. `message` states the consequence of the
   * error.
   */
  note(error: unknown, message?: string, facts?: object): QueueError;
}

/** Messages of ioredis for an unreachable server; system error codes are checked separately. */
const AWAY =
  /connection is closed|isn't writeable|timed out|socket timeout|retries per request|failed to refresh slots|startup nodes|sentinels|no answer within/i;

/** `what` names the affected part of Parley in the log. */
export function createRedisOutage(what: string, place: RedisLocation, log: Logger): RedisOutage {
  const server = getRedisName(place);
  const note: RedisOutage['note'] = (error, message, facts = {}) => {
    const first = findInnermostError(error);
    const outage = isConnectionLost(first) ? server : `${server} (${getErrorKind(first)})`;
    const failure = new QueueError({
      code: 'queue-unreachable',
      message: `${outage}: ${reasonOf(first)}`,
      retryable: true,
      cause: error,
    });
    const about = { outage, what, ...facts, reason: failure.message };
    log.warn(about, message ?? 'Redis cannot be used; trying again');
    return failure;
  };
  return {
    note,
    watch(connection) {
      connection.on('error', (error: unknown) => void note(error));
      connection.on('ready', () => log.info({ recovered: server, what }, 'Redis answers'));
    },
  };
}

/** The server's name, without its password. */
function getRedisName({ url, sentinel, cluster }: RedisLocation): string {
  if (sentinel !== undefined) return `Redis ${sentinel.name}`;
  return `Redis${cluster === undefined ? '' : ' cluster'} at ${new URL(url).host}`;
}

function isConnectionLost(error: unknown): boolean {
  if (error instanceof Error && 'code' in error && String(error.code).startsWith('E')) return true;
  return AWAY.test(reasonOf(error));
}

/** Replaces numbers such as job ids, so that the same failure of many jobs counts as one outage. */
function getErrorKind(error: unknown): string {
  return reasonOf(error).replace(/\d+/g, '#').slice(0, 60);
}

/**
 * Node reports "several addresses failed" with an empty message; the first inner error has the
 * cause.
 */
function findInnermostError(error: unknown): unknown {
  return error instanceof AggregateError ? (error.errors[0] ?? error) : error;
}

/**
 * Warns about Redis settings that can lose wake-ups. Never throws, because the sweep finds work
 * without wake-ups.
 */
export async function checkRedis(connection: RedisConnection, log: Logger): Promise<void> {
  try {
    for (const { facts, message } of findRedisIssues(await connection.info()))
      log.warn(facts, message);
  } catch (error) {
    log.debug({ reason: reasonOf(error) }, 'Redis did not return its configuration');
  }
}

interface RedisIssue {
  readonly facts: object;
  readonly message: string;
}

/** BullMQ’s scripts need version 6.2; BullMQ itself accepts 5, but with less precise timers. */
const OLDEST = { major: 6, minor: 2 };

/** Finds problems in the output of the server's `INFO` command. */
export function findRedisIssues(info: string): readonly RedisIssue[] {
  const fact = (name: string): string | undefined =>
    new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1];
  const found: RedisIssue[] = [];
  const policy = fact('maxmemory_policy');
  if (policy !== undefined && policy !== 'noeviction') {
    found.push({
      facts: { policy },
      message:
        'Redis discards wake-ups when its memory is full; set its maxmemory-policy to noeviction',
    });
  }
  // Valkey has its own version numbers, and all of its releases are recent enough.
  const version = fact('valkey_version') === undefined ? fact('redis_version') : undefined;
  const [major = 0, minor = 0] = version?.split('.').map(Number) ?? [];
  const isOld = major < OLDEST.major || (major === OLDEST.major && minor < OLDEST.minor);
  if (version !== undefined && isOld) {
    found.push({
      facts: { version },
      message: `Redis is older than ${OLDEST.major}.${OLDEST.minor}; update it`,
    });
  }
  return found;
}

/** The result of a single probe of Redis; it does not contain the password. */
export type RedisProbe =
  | { readonly kind: 'works'; readonly version: string; readonly complaints: readonly string[] }
  | { readonly kind: 'problem'; readonly reason: string };

/** Connects once and reads the Redis configuration. Never rejects; `signal` sets the deadline. */
export async function probeRedis(place: RedisLocation, signal: AbortSignal): Promise<RedisProbe> {
  const connection = connectRedis(place, 'ask');
  // Only the first outcome counts, because ioredis would retry forever. An `error` listener is
  // still needed for errors that occur later.
  const ready = once(connection, 'ready', { signal });
  connection.on('error', () => {});
  try {
    await ready;
    const info = await connection.info();
    const version =
      /^(?:valkey|redis)_version:(\S+?)\r?$/m.exec(info)?.[1] ?? 'of an unknown version';
    return {
      kind: 'works',
      version,
      complaints: findRedisIssues(info).map(({ message }) => message),
    };
  } catch (thrown) {
    const reason = signal.aborted ? 'no answer in time' : reasonOf(findInnermostError(thrown));
    return { kind: 'problem', reason };
  } finally {
    connection.disconnect();
  }
}
