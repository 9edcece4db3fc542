import { once } from 'node:events';
import { isIP } from 'node:net';
import { type Logger, reasonOf } from '@parley/core';
import { Cluster, type ClusterOptions, Redis, type RedisOptions } from 'ioredis';
import { QueueError, type RedisLocation } from './redis-location.ts';

/** A connection to one server (also one that sentinels named) or to a cluster. */
export type RedisConnection = Redis | Cluster;

/**
 * The purpose of a connection. `ask`: a command that cannot be answered now fails now, because a caller waits for it.
 * `work` (BullMQ’s workers) and `listen` (live events): it waits until Redis is back.
 */
type RedisUse = 'ask' | 'work' | 'listen';

/** A second is soon enough for people, and nothing to a Redis that has just come back. In ms. */
const RECONNECT_AT_MOST_MS = 1_000;
const ASK_MS = 2_000;

const CONNECT_MS = 5_000;
/** TCP asks after a connection that has been quiet for so long. In ms. */
const KEEP_ALIVE_AFTER_MS = 10_000;

/** The seconds that a worker waits for a job in one command; then it asks again. */
export const BLOCK_SECONDS = 4;
/**
 * A connection that says nothing for so long while it owes an answer is dead, whatever TCP believes.
 * In ms.
 */
const SILENT_MS = 6_000;

const DEFAULT_PORT = 6379;
const SENTINEL_PORT = 26_379;

/** Begins to connect, and goes on trying until it is closed. Attach an `error` listener. */
export function connectRedis(place: RedisLocation, use: RedisUse): RedisConnection {
  const { cluster, sentinel } = place;
  const options = optionsFor(place, use);
  if (cluster !== undefined) return connectCluster(place, cluster.nodes, use);
  if (sentinel === undefined) return new Redis({ ...options, ...redisAddress(place.url) });
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

/** Deadline at a start for a Redis that may not be there, in ms. */
const OPEN_MS = 5_000;

/** The text for people; a connection to a cluster gives no reason of its own. */
export const REDIS_UNREACHABLE = 'no answer within 5 s; is the address right?';

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

function connectCluster(place: RedisLocation, nodes: readonly string[], use: RedisUse): Cluster {
  const { retryStrategy, enableOfflineQueue, db, ...redisOptions } = optionsFor(place, use);
  // A certificate names hosts: they must not be turned into numbers before TLS has seen them.
  const dnsLookup: ClusterOptions['dnsLookup'] = (host, done) => done(null, host);
  const options = {
    redisOptions,
    enableOfflineQueue: enableOfflineQueue ?? true,
    clusterRetryStrategy: pauseBefore,
    ...(redisOptions.tls && { dnsLookup }),
  };
  const all = [redisAddress(place.url), ...nodes.map((node) => nodeAddress(node, DEFAULT_PORT))];
  return new Cluster(all, options);
}

function optionsFor(place: RedisLocation, use: RedisUse): Options {
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

/** The pause before the next try, in ms. */
function pauseBefore(tries: number): number {
  return Math.min(tries * 100, RECONNECT_AT_MOST_MS);
}

function redisAddress(url: string) {
  const { hostname, port } = new URL(url);
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  // 0 lets the system look for IPv4 and IPv6; a number says itself what it is.
  return { host, port: Number(port || DEFAULT_PORT), family: isIP(host) };
}

function nodeAddress(node: string, port: number) {
  const { hostname, port: written } = new URL(`redis://${node}`);
  return { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: Number(written || port) };
}

/** Logs an outage of Redis, however many connections and commands notice it; the log counts them. */
export interface RedisOutage {
  /** From now on events of this connection are handled. */
  watch(connection: RedisConnection): void;
  /** For errors that do not come from a connection of ours; `message`: what becomes of it. */
  note(error: unknown, message?: string, facts?: object): QueueError;
}

/** Messages of ioredis when it cannot reach the server, besides the codes of the system. */
const AWAY =
  /connection is closed|isn't writeable|timed out|socket timeout|retries per request|failed to refresh slots|startup nodes|sentinels|no answer within/i;

/** `what` names in the log who misses Redis. */
export function redisOutage(what: string, place: RedisLocation, log: Logger): RedisOutage {
  const server = redisName(place);
  const note: RedisOutage['note'] = (error, message, facts = {}) => {
    const first = innermostError(error);
    const outage = isAway(first) ? server : `${server} (${errorKind(first)})`;
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

/** The name of the server, without a password. */
function redisName({ url, sentinel, cluster }: RedisLocation): string {
  if (sentinel !== undefined) return `Redis ${sentinel.name}`;
  return `Redis${cluster === undefined ? '' : ' cluster'} at ${new URL(url).host}`;
}

function isAway(error: unknown): boolean {
  if (error instanceof Error && 'code' in error && String(error.code).startsWith('E')) return true;
  return AWAY.test(reasonOf(error));
}

/** Many jobs have the same trouble at once. */
function errorKind(error: unknown): string {
  return reasonOf(error).replace(/\d+/g, '#').slice(0, 60);
}

/** Node says "several addresses failed" with an empty message; the first of them says more. */
function innermostError(error: unknown): unknown {
  return error instanceof AggregateError ? (error.errors[0] ?? error) : error;
}

/** Warns of settings of Redis with which wake-ups get lost. Never throws: they can be made up for. */
export async function checkRedis(connection: RedisConnection, log: Logger): Promise<void> {
  try {
    for (const { facts, message } of findComplaints(await connection.info()))
      log.warn(facts, message);
  } catch (error) {
    log.debug({ reason: reasonOf(error) }, 'Redis does not say how it is set up');
  }
}

interface Complaint {
  readonly facts: object;
  readonly message: string;
}

/** BullMQ’s scripts want 6.2; it begins at 5, with timers that are less exact. */
const OLDEST = { major: 6, minor: 2 };

/** Problems of a server, by its own `INFO`. */
export function findComplaints(info: string): readonly Complaint[] {
  const fact = (name: string): string | undefined =>
    new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1];
  const found: Complaint[] = [];
  const policy = fact('maxmemory_policy');
  if (policy !== undefined && policy !== 'noeviction') {
    found.push({
      facts: { policy },
      message:
        'Redis throws wake-ups away when its memory is full; set its maxmemory-policy to noeviction',
    });
  }
  // Valkey counts its own versions, and all of them are new enough.
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

/** The result of one look at Redis. Texts hold no password. */
export type RedisProbe =
  | { readonly kind: 'works'; readonly version: string; readonly complaints: readonly string[] }
  | { readonly kind: 'problem'; readonly reason: string };

/** Connects once and asks Redis how it is set up. Never rejects; the deadline is the signal's. */
export async function probeRedis(place: RedisLocation, signal: AbortSignal): Promise<RedisProbe> {
  const connection = connectRedis(place, 'ask');
  // It would try again and again; the first refusal counts, and later ones must have a listener.
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
      complaints: findComplaints(info).map(({ message }) => message),
    };
  } catch (thrown) {
    const reason = signal.aborted ? 'no answer in time' : reasonOf(innermostError(thrown));
    return { kind: 'problem', reason };
  } finally {
    connection.disconnect();
  }
}
