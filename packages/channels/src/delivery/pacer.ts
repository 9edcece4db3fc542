import type { Capabilities, ChatType, Rate } from '@parley/contracts';

/** Decides when a chat may be sent to, so that the platform need not say no (D05). */
export interface Pacer {
  /**
   * Takes the right to send one part now: 0. Otherwise takes nothing and says after how many ms to ask
   * again.
   */
  take(chatId: string, chatType: ChatType | undefined, now: number): number;
  /** The whole account has to be silent for so long: the platform said so. */
  pause(now: number, forMs: number): void;
}

/** Buckets that are kept at least; full ones are forgotten beyond that. */
const KEPT_CHATS = 1_000;

/**
 * Paces one account by the rates its adapter declares: one token bucket for all of it, and one for
 * each chat. Kept in memory: after a restart the platform may say no once more.
 */
export function createPacer(rates: Capabilities['rates'] = {}): Pacer {
  let account = 0;
  let pausedUntil = 0;
  const chats = new Map<string, number>();
  return {
    take(chatId, chatType, now) {
      const perChat = chatType === undefined || chatType === 'direct' ? rates.direct : rates.group;
      const chat = chats.get(chatId) ?? 0;
      const wait = Math.max(
        pausedUntil - now,
        waitOf(account, rates.account, now),
        waitOf(chat, perChat, now),
      );
      if (wait > 0) return wait;
      if (rates.account) account = afterTake(account, rates.account, now);
      if (perChat) {
        if (chats.size >= KEPT_CHATS) forgetFull(chats, now);
        chats.set(chatId, afterTake(chat, perChat, now));
      }
      return 0;
    },
    pause(now, forMs) {
      pausedUntil = Math.max(pausedUntil, now + forMs);
    },
  };
}

/**
 * A bucket is the time at which it will be full again: the generic cell rate algorithm, which needs no
 * timer and one number.
 * @returns ms until it has a token.
 */
function waitOf(fullAt: number, rate: Rate | undefined, now: number): number {
  if (rate === undefined) return 0;
  return Math.max(0, Math.ceil(fullAt - (rate.burst - 1) * rate.everyMs - now));
}

/** The bucket with one token less. */
function afterTake(fullAt: number, rate: Rate, now: number): number {
  return Math.max(fullAt, now) + rate.everyMs;
}

function forgetFull(chats: Map<string, number>, now: number): void {
  for (const [chatId, fullAt] of chats) if (fullAt <= now) chats.delete(chatId);
}
