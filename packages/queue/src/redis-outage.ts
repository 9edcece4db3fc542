import { type Logger, reasonOf } from '@parley/contracts';
import type { RedisConnection } from './connect-redis.ts';

/** Tells of an outage when it begins and when it is over, however many connections notice it. */
export interface RedisOutage {
  /** From now on this connection is heard. */
  watch(connection: RedisConnection): void;
  /** For errors that do not come from a connection of ours; `message`: what becomes of it. */
  note(error: unknown, message?: string): void;
}

/** The same words again after this long, in ms: people who look later must see that it goes on. */
const REPEAT_MS = 30_000;

/** `what` names in the log who misses Redis. */
export function redisOutage(what: string, log: Logger): RedisOutage {
  const told = new Map<string, number>();
  const note = (error: unknown, message = 'Redis cannot be used; trying again'): void => {
    const reason = reasonOf(innermost(error));
    // Many jobs have the same trouble at once.
    const kind = reason.replace(/\d+/g, '#');
    const now = Date.now();
    if (now - (told.get(kind) ?? Number.NEGATIVE_INFINITY) < REPEAT_MS) return;
    told.set(kind, now);
    log.warn({ what, reason }, message);
  };
  return {
    note,
    watch(connection) {
      connection.on('error', (error: unknown) => note(error));
      connection.on('ready', () => {
        if (told.size > 0) log.info({ what }, 'Redis can be used again');
        told.clear();
      });
    },
  };
}

/** Node says "several addresses failed" with an empty message; the first of them tells more. */
function innermost(error: unknown): unknown {
  return error instanceof AggregateError ? (error.errors[0] ?? error) : error;
}
