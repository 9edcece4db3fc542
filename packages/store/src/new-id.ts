import { hash, randomBytes } from 'node:crypto';
import type { Clock, NewId } from '@parley/contracts';

/** Ids that begin with the time, so that rows made together lie together in an index. */
export function timedIds(clock: Clock): NewId {
  return (prefix) =>
    `${prefix}_${clock().toString(36).padStart(9, '0')}${randomBytes(8).toString('hex')}`;
}

/**
 * The key of a part, derived from its id: 22 characters, because Discord's nonce, the shortest of
 * all platforms, takes 25. 132 bits of a hash do not meet twice.
 */
export function idempotencyKeyOf(partId: string): string {
  return hash('sha256', partId, 'base64url').slice(0, 22);
}
