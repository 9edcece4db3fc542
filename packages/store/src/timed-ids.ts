import { randomBytes } from 'node:crypto';
import type { Clock, NewId } from '@parley/core';

/**
 * Creates ids that start with the time, so that rows created together are also close together in an
 * index.
 */
export function createTimedIds(clock: Clock): NewId {
  // Random bytes are requested in bulk, because requesting them is the slowest part of creating an
  // id.
  let pool = randomBytes(0);
  let used = 0;
  return (prefix) => {
    if (used === pool.length) {
      pool = randomBytes(IDS_AT_ONCE * RANDOM_BYTES);
      used = 0;
    }
    const random = pool.toString('hex', used, used + RANDOM_BYTES);
    used += RANDOM_BYTES;
    return `${prefix}_${clock().toString(36).padStart(9, '0')}${random}`;
  };
}

const RANDOM_BYTES = 8;

const IDS_AT_ONCE = 64;
