import { createRateLimitRefusal } from './request.ts';

/** The parameters of a token bucket: `burst` calls at once, refilled at `perMinute`. */
interface BucketRate {
  readonly burst: number;
  readonly perMinute: number;
}

/** Rate limits; an absent field means no limit. */
export interface SlackLimits {
  /** The limit for new messages in one conversation. */
  readonly messages?: BucketRate;
  /** The limit for all calls of one method. */
  readonly methods?: Readonly<Record<string, BucketRate>>;
}

/** Slack's documented tiers; the burst sizes are not published. */
const TIER_2: BucketRate = { burst: 20, perMinute: 20 };
const TIER_3: BucketRate = { burst: 50, perMinute: 50 };
const TIER_4: BucketRate = { burst: 100, perMinute: 100 };

/**
 * Slack's published limits for an internal app: one message per second in each conversation, and
 * the tier of each method.
 */
export const REAL_LIMITS: SlackLimits = {
  messages: { burst: 5, perMinute: 60 },
  methods: {
    'chat.update': TIER_3,
    'chat.delete': TIER_3,
    'chat.startStream': TIER_2,
    'chat.appendStream': TIER_4,
    'chat.stopStream': TIER_2,
    'conversations.history': TIER_3,
    'conversations.replies': TIER_3,
    'conversations.info': TIER_3,
    'conversations.members': TIER_4,
    'conversations.open': TIER_3,
    'files.getUploadURLExternal': TIER_4,
    'files.completeUploadExternal': TIER_4,
    'reactions.add': TIER_3,
    'reactions.remove': TIER_2,
    'users.info': TIER_4,
    'views.open': TIER_4,
  },
};

interface TokenBucket {
  tokens: number;
  at: number;
}

/** Token buckets that use the given clock. */
export class RateLimits {
  readonly #limits: SlackLimits;
  readonly #clock: () => number;
  readonly #buckets = new Map<string, TokenBucket>();

  constructor(limits: SlackLimits, clock: () => number) {
    this.#limits = limits;
    this.#clock = clock;
  }

  /** Counts a call of a method. @throws Refusal with status 429 and the wait in whole seconds */
  passCall(method: string): void {
    this.#pass(method, this.#limits.methods?.[method]);
  }

  /**
   * Counts a new message in a conversation. @throws Refusal with status 429 and the wait in whole
   * seconds
   */
  passMessage(channel: string): void {
    this.#pass(`message ${channel}`, this.#limits.messages);
  }

  #pass(key: string, rate: BucketRate | undefined): void {
    if (rate === undefined) return;
    const now = this.#clock();
    const perMs = rate.perMinute / 60_000;
    const bucket = this.#buckets.get(key) ?? { tokens: rate.burst, at: now };
    bucket.tokens = Math.min(rate.burst, bucket.tokens + (now - bucket.at) * perMs);
    bucket.at = now;
    this.#buckets.set(key, bucket);
    if (bucket.tokens < 1)
      throw createRateLimitRefusal(Math.max(1, Math.ceil((1 - bucket.tokens) / perMs / 1_000)));
    bucket.tokens -= 1;
  }
}
