import type { Clock } from '@parley/core';

/** The latest date that JavaScript can represent, in seconds since 1970. */
const LAST_SECOND = 8_640_000_000_000;

/** The time of a message, in whole seconds since 1970; if it is unreadable, the time of arrival. */
export function toMessageSeconds(seconds: number, clock: Clock): number {
  const isTime = seconds >= 1 && seconds <= LAST_SECOND;
  return Math.floor(isTime ? seconds : clock() / 1_000);
}
