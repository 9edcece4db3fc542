import type { Logger, Monotonic } from '@parley/core';
import { type ConnectedRequest, getTokenSender, type TokenSender } from './sender.ts';

/** A refused request, with the reason as text for people. */
export interface RequestRefusal {
  readonly status: 401 | 403 | 429;
  readonly message: string;
  readonly retryAfterSeconds?: number;
}

export interface SecretVerifierOptions {
  readonly monotonic: Monotonic;
  readonly log: Logger;
}

export type SecretVerifier = ReturnType<typeof createSecretVerifier>;

/**
 * Checks all secrets for the web server: the token, sessions, named sign-ins, tokens for hooks and
 * API clients, and webhook secrets. A secret is compared in constant time before any throttling, so
 * a correct secret is always accepted immediately. Only wrong secrets are counted and throttled,
 * per sender and in total. Attackers therefore cannot lock out anyone who has a correct secret,
 * even if all senders share a proxy's address.
 */
export function createSecretVerifier({ monotonic, log }: SecretVerifierOptions) {
  const wrong = createWrongTokenCounter(monotonic);
  return {
    /**
     * Counts a wrong secret and returns the refusal, with `message` or with a notice about too many
     * attempts.
     */
    refuseWrong(c: ConnectedRequest, message: string): RequestRefusal {
      const sender = getTokenSender(c);
      const waitMs = wrong.waitMs(sender);
      if (waitMs > 0) return createTooManyRefusal(Math.ceil(waitMs / 1_000));
      wrong.wrong(sender);
      log.warn({ from: sender.name }, 'a wrong token was sent');
      return { status: 401, message };
    },
  };
}

function createTooManyRefusal(seconds: number): RequestRefusal {
  const message = `Too many wrong tokens. Try again in ${seconds === 1 ? '1 second' : `${seconds} seconds`}.`;
  return { status: 429, message, retryAfterSeconds: seconds };
}

interface FailedAttempts {
  readonly count: number;
  readonly at: number;
}

/**
 * The first `free` wrong tokens cause no delay. Each further wrong token doubles the delay, from
 * one second up to `longestMs`.
 */
interface AttemptBackoff {
  readonly free: number;
  readonly longestMs: number;
}

const ONE_SENDER: AttemptBackoff = { free: 5, longestMs: 5 * 60_000 };
const ALL_SENDERS: AttemptBackoff = { free: 50, longestMs: 15_000 };
/** The time (ms) after which wrong tokens are forgotten if no other wrong token follows. */
const FORGOTTEN_AFTER_MS = 15 * 60_000;
/**
 * The maximum number of remembered senders. Beyond that, the least recent senders are forgotten,
 * but still count toward the total.
 */
const MAX_SENDERS = 1_000;

const NONE: FailedAttempts = { count: 0, at: 0 };

/** Returns how long (ms) the next wrong token has to wait. */
function computeAttemptDelay(
  { count, at }: FailedAttempts,
  now: number,
  { free, longestMs }: AttemptBackoff,
): number {
  if (count <= free || now - at > FORGOTTEN_AFTER_MS) return 0;
  const pause = Math.min(1_000 * 2 ** Math.min(count - free - 1, 20), longestMs);
  return Math.max(0, at + pause - now);
}

function addFailedAttempt({ count, at }: FailedAttempts, now: number): FailedAttempts {
  return { count: now - at > FORGOTTEN_AFTER_MS ? 1 : count + 1, at: now };
}

/** Counts wrong tokens per sender and in total, and computes the delay for the next wrong token. */
export function createWrongTokenCounter(monotonic: Monotonic) {
  const senders = new Map<string, FailedAttempts>();
  let all = NONE;
  return {
    /** Returns how long (ms) this sender's next wrong token has to wait. */
    waitMs({ name, isLocal }: TokenSender): number {
      const now = monotonic();
      const own = computeAttemptDelay(senders.get(name) ?? NONE, now, ONE_SENDER);
      return isLocal ? own : Math.max(own, computeAttemptDelay(all, now, ALL_SENDERS));
    },
    wrong({ name }: TokenSender): void {
      const now = monotonic();
      const tries = addFailedAttempt(senders.get(name) ?? NONE, now);
      senders.delete(name);
      senders.set(name, tries);
      const [oldest] = senders.keys();
      if (senders.size > MAX_SENDERS && oldest !== undefined) senders.delete(oldest);
      all = addFailedAttempt(all, now);
    },
    size: (): number => senders.size,
  };
}
