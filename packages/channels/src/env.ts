import { setTimeout as delay } from 'node:timers/promises';

/** Chance and waiting, which tests replace. */
export interface ChannelEnv {
  /** In [0, 1). */
  readonly random: () => number;
  /** Resolves after `ms`, or as soon as the signal is aborted; never rejects. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** Random numbers and timers of the process. */
export const realEnv: ChannelEnv = {
  random: Math.random,
  wait: (ms, signal) => delay(ms, undefined, { signal }).catch(() => undefined),
};

const FIRST_BACKOFF_MS = 1_000;
const LONGEST_BACKOFF_MS = 60_000;

/** 1 s, 2 s, 4 s … 60 s, each shortened by up to half so that many accounts do not return at once. */
export function reconnectBackoff(failures: number, random: number): number {
  return shortened(Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** failures), random);
}

/** A delay shortened by up to half by chance; `random` is in [0, 1). In ms. */
export function shortened(ms: number, random: number): number {
  return Math.round(ms * (0.5 + random / 2));
}

/** Reads a download up to `limit` bytes; undefined when there is more, and the connection is closed. */
export async function readUpTo(
  body: AsyncIterable<Uint8Array>,
  limit: number,
): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > limit) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}
