import { createHash } from 'node:crypto';

interface RateWindow {
  readonly count: number;
  readonly windowMs: number;
}

/** Limits of the REST interface. */
export interface RateLimits {
  /** The limit for messages to one channel. */
  readonly messages: RateWindow;
  /** The limit for any other route, counted separately for each channel, guild or webhook. */
  readonly routes: RateWindow;
  /** The limit for all routes together, except responses to interactions. */
  readonly global: RateWindow;
}

/** Limits so high that no test reaches them; the headers are still sent. */
export const WIDE_LIMITS: RateLimits = {
  messages: { count: 50, windowMs: 1000 },
  routes: { count: 50, windowMs: 1000 },
  global: { count: 500, windowMs: 1000 },
};

/** Approximately the limits of Discord's servers. */
export const REAL_LIMITS: RateLimits = {
  messages: { count: 5, windowMs: 5000 },
  routes: { count: 5, windowMs: 5000 },
  global: { count: 50, windowMs: 1000 },
};

export interface LimitVerdict {
  readonly headers: Readonly<Record<string, string>>;
  /** The fields of a rejected call; absent when the call is accepted. */
  readonly retryAfterMs?: number;
  readonly global?: boolean;
}

interface Bucket {
  left: number;
  endsAt: number;
}

export class RateLimiter {
  readonly #limits: RateLimits;
  readonly #clock: () => number;
  readonly #buckets = new Map<string, Bucket>();

  constructor(limits: RateLimits, clock: () => number) {
    this.#limits = limits;
    this.#clock = clock;
  }

  /** `major` is the id of the route's channel, guild or webhook. */
  take(route: string, major: string): LimitVerdict {
    if (!route.includes('/interactions/') && !route.includes('/webhooks/')) {
      const global = this.#count('global', this.#limits.global);
      if (global.waitMs > 0) return createRateLimitedVerdict(global.waitMs, true, {});
    }
    const isSend = route === 'POST /channels/:channel/messages';
    const window = isSend ? this.#limits.messages : this.#limits.routes;
    const { left, waitMs, endsAt } = this.#count(`${route} ${major}`, window);
    const headers = {
      'x-ratelimit-limit': String(window.count),
      'x-ratelimit-remaining': String(left),
      'x-ratelimit-reset': (endsAt / 1000).toFixed(3),
      'x-ratelimit-reset-after': ((endsAt - this.#clock()) / 1000).toFixed(3),
      'x-ratelimit-bucket': createHash('md5').update(route).digest('hex'),
    };
    return waitMs > 0 ? createRateLimitedVerdict(waitMs, false, headers) : { headers };
  }

  #count(key: string, { count, windowMs }: RateWindow): Bucket & { readonly waitMs: number } {
    const now = this.#clock();
    const old = this.#buckets.get(key);
    const bucket =
      old === undefined || old.endsAt <= now ? { left: count, endsAt: now + windowMs } : old;
    this.#buckets.set(key, bucket);
    if (bucket.left === 0) return { ...bucket, waitMs: bucket.endsAt - now };
    bucket.left -= 1;
    return { ...bucket, waitMs: 0 };
  }
}

/** A rejected call, with the rate limit headers that clients read. */
export function createRateLimitedVerdict(
  retryAfterMs: number,
  global: boolean,
  headers: Readonly<Record<string, string>>,
): LimitVerdict {
  return {
    retryAfterMs,
    global,
    headers: {
      ...headers,
      'retry-after': String(Math.ceil(retryAfterMs / 1000)),
      'x-ratelimit-scope': global ? 'global' : 'user',
      ...(global ? { 'x-ratelimit-global': 'true' } : {}),
    },
  };
}
