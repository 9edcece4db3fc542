import { setTimeout as delay } from 'node:timers/promises';

/** Chance and waiting, for tests to decide. */
export interface WhatsAppAmbience {
  /** In [0, 1). */
  readonly random: () => number;
  /** Resolves after `ms`, or as soon as the signal is aborted; never rejects. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  /** How long the server may take to answer a message, in ms. */
  readonly ackTimeoutMs: number;
}

/** Dice and timers as they are. */
export const realAmbience: WhatsAppAmbience = {
  random: Math.random,
  wait: (ms, signal) => delay(ms, undefined, { signal }).catch(() => undefined),
  ackTimeoutMs: 20_000,
};
