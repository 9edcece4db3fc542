import { randomBytes } from 'node:crypto';

/**
 * A key prefix that no other test file uses, since all of them share one Redis. Pass it to BullMQ
 * as `prefix`. The braces keep the keys of one queue in one slot of a Redis Cluster.
 */
export function createRedisPrefix(): string {
  return `{test-${randomBytes(8).toString('hex')}}`;
}
