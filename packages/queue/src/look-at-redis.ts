import { type Logger, reasonOf } from '@parley/contracts';
import type { RedisConnection } from './connect-redis.ts';

/** Warns of settings of Redis with which wake-ups get lost. Never throws: they can be made up for. */
export async function lookAtRedis(connection: RedisConnection, log: Logger): Promise<void> {
  try {
    for (const { facts, message } of complaints(await connection.info())) log.warn(facts, message);
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

/** What is wrong with a server, by its own `INFO`. */
export function complaints(info: string): readonly Complaint[] {
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
