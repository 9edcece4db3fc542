import type { OutboundPart } from '@parley/core';
import type { RandomChance } from '../engine/chance.ts';
import type { PlatformKind } from './platform-kind.ts';
import type { SendFate } from './sending.ts';

/**
 * Draws the outcome of a request from the bot. `isBad` tells whether requests may fail; `part` is
 * null when nothing is sent.
 */
export function drawSendFate(
  chance: RandomChance,
  isBad: boolean,
  { refuses }: PlatformKind,
  part: OutboundPart | null,
): SendFate {
  if (!isBad) return { kind: 'sent' };
  const number = chance.next();
  if (number < 0.15) return { kind: 'reset-before' };
  if (number < 0.3) return { kind: 'reset-after' };
  if (number < 0.36) return { kind: 'swallowed' };
  if (number < 0.4) return { kind: 'swallowed-after' };
  if (number < 0.55) {
    const scope = chance.happens(0.3) ? 'account' : 'chat';
    return { kind: 'rate-limited', retryAfterMs: Math.ceil(chance.between(200, 6_000)), scope };
  }
  // A refused notice is not reported to anyone, and no promise covers this.
  if (refuses === true && number < 0.7 && part !== null && part.noticeOf === undefined) {
    const failure = chance.one(['forbidden', 'gone', 'refused-format', 'refused'] as const);
    return { kind: 'refused', failure };
  }
  return { kind: 'sent' };
}
