import { setTimeout as delay } from 'node:timers/promises';

/** Chance and waiting, for tests to decide. */
export interface DiscordAmbience {
  /** In [0, 1). */
  readonly random: () => number;
  /** Resolves after `ms`, or as soon as the signal is aborted; never rejects. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** Dice and timers as they are. */
export const realAmbience: DiscordAmbience = {
  random: Math.random,
  wait: (ms, signal) => delay(ms, undefined, { signal }).catch(() => undefined),
};
