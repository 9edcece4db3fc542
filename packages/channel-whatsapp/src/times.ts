import type { Clock } from '@parley/core';

/** The last second that a date can have, since 1970. */
const LAST_SECOND = 8_640_000_000_000;

/** In whole seconds since 1970; a message without a readable time is as old as its arrival. */
export function messageSeconds(seconds: number, clock: Clock): number {
  const isTime = seconds >= 1 && seconds <= LAST_SECOND;
  return Math.floor(isTime ? seconds : clock() / 1_000);
}
