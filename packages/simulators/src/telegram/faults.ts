import { z } from 'zod';
import { ArmedFaults, createCallFaultShapes, FAULT_AIM } from '../armed-faults.ts';
import { Refusal, RefusalParameters } from './request.ts';

const aim = {
  ...FAULT_AIM,
  /** The method that the fault applies to; any method except getUpdates when absent. */
  method: z.string().optional(),
  chat: z.number().optional(),
  /**
   * The call takes effect before the fault: the message is sent, but the bot does not get a
   * confirmation.
   */
  after: z.boolean().optional(),
};

/** A fault that applies to the next matching call. */
export const Fault = z.discriminatedUnion('kind', [
  ...createCallFaultShapes(aim),
  /** An error response in the Bot API's own format. */
  z.strictObject({
    kind: z.literal('refuse'),
    code: z.number(),
    description: z.string(),
    parameters: RefusalParameters.optional(),
    ...aim,
  }),
]);
export type Fault = z.infer<typeof Fault>;

export class FaultInjector extends ArmedFaults<Fault> {
  /** Returns the fault for this call and counts it as used. */
  takeFor(method: string, chat: number | undefined): Fault | undefined {
    return this.take((fault) => (matchesFault(fault, method, chat) ? fault : undefined));
  }
}

function matchesFault(fault: Fault, method: string, chat: number | undefined): boolean {
  if (fault.chat !== undefined && fault.chat !== chat) return false;
  if (fault.method === undefined) return method !== 'getupdates';
  return fault.method.toLowerCase() === method;
}

/** The parameters of a token bucket: `burst` sends at once, refilled at `perSecond`. */
interface BucketRate {
  readonly burst: number;
  readonly perSecond: number;
}

/**
 * The limits of a private chat, a group, and the bot as a whole; an absent field means no limit.
 */
export interface FloodLimits {
  readonly chat?: BucketRate;
  readonly group?: BucketRate;
  readonly overall?: BucketRate;
}

/**
 * An approximation of Telegram's limits: one message per second in a chat, 20 per minute in a
 * group, 30 per second in total.
 */
export const REAL_LIMITS: FloodLimits = {
  chat: { burst: 5, perSecond: 1 },
  group: { burst: 20, perSecond: 20 / 60 },
  overall: { burst: 30, perSecond: 30 },
};

interface TokenBucket {
  tokens: number;
  at: number;
}

/** Token buckets that use the given clock; sends and edits share them, as on the servers. */
export class FloodControl {
  readonly #limits: FloodLimits;
  readonly #clock: () => number;
  readonly #buckets = new Map<string, TokenBucket>();

  constructor(limits: FloodLimits, clock: () => number) {
    this.#limits = limits;
    this.#clock = clock;
  }

  /**
   * @throws Refusal with status 429 and `retry_after` in whole seconds; a refused send does not
   * count
   */
  pass(chatId: number): void {
    const own = chatId < 0 ? this.#limits.group : this.#limits.chat;
    const wanted: [string, BucketRate | undefined][] = [
      [`chat ${chatId}`, own],
      ['overall', this.#limits.overall],
    ];
    const taken: TokenBucket[] = [];
    for (const [key, rate] of wanted) {
      if (rate === undefined) continue;
      const bucket = this.#refilled(key, rate);
      if (bucket.tokens < 1) {
        const seconds = Math.max(1, Math.ceil((1 - bucket.tokens) / rate.perSecond));
        throw new Refusal(429, `Too Many Requests: retry after ${seconds}`, {
          retry_after: seconds,
        });
      }
      taken.push(bucket);
    }
    for (const bucket of taken) bucket.tokens -= 1;
  }

  #refilled(key: string, rate: BucketRate): TokenBucket {
    const now = this.#clock();
    const bucket = this.#buckets.get(key) ?? { tokens: rate.burst, at: now };
    const gained = ((now - bucket.at) / 1000) * rate.perSecond;
    bucket.tokens = Math.min(rate.burst, bucket.tokens + gained);
    bucket.at = now;
    this.#buckets.set(key, bucket);
    return bucket;
  }
}
