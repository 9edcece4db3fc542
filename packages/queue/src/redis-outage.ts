import { type Logger, reasonOf } from '@parley/contracts';
import type { RedisConnection } from './connect-redis.ts';
import { QueueError } from './queue-error.ts';
import type { RedisPlace } from './redis-place.ts';

/** Logs an outage of Redis, however many connections and commands notice it; the log counts them. */
export interface RedisOutage {
  /** From now on this connection is heard. */
  watch(connection: RedisConnection): void;
  /** For errors that do not come from a connection of ours; `message`: what becomes of it. */
  note(error: unknown, message?: string, facts?: object): QueueError;
}

/** What ioredis says when it cannot reach the server, besides the codes of the system. */
const AWAY =
  /connection is closed|isn't writeable|timed out|socket timeout|retries per request|failed to refresh slots|startup nodes|sentinels|no answer within/i;

/** `what` names in the log who misses Redis. */
export function redisOutage(what: string, place: RedisPlace, log: Logger): RedisOutage {
  const server = nameOf(place);
  const note: RedisOutage['note'] = (error, message, facts = {}) => {
    const first = innermost(error);
    const outage = isAway(first) ? server : `${server} (${kindOf(first)})`;
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

/** Where it is, without a password. */
function nameOf({ url, sentinel, cluster }: RedisPlace): string {
  if (sentinel !== undefined) return `Redis ${sentinel.name}`;
  return `Redis${cluster === undefined ? '' : ' cluster'} at ${new URL(url).host}`;
}

function isAway(error: unknown): boolean {
  if (error instanceof Error && 'code' in error && String(error.code).startsWith('E')) return true;
  return AWAY.test(reasonOf(error));
}

/** Many jobs have the same trouble at once. */
function kindOf(error: unknown): string {
  return reasonOf(error).replace(/\d+/g, '#').slice(0, 60);
}

/** Node says "several addresses failed" with an empty message; the first of them tells more. */
function innermost(error: unknown): unknown {
  return error instanceof AggregateError ? (error.errors[0] ?? error) : error;
}
