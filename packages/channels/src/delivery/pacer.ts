import type { Capabilities, ChatType, Rate } from '@parley/core';

export interface PacedChat {
  readonly chatId: string;
  readonly chatType?: ChatType | undefined;
}

/**
 * Decides when a message part may be sent to a chat, so that the platform does not have to refuse
 * it (D05). `now` is monotonic time, in ms.
 */
export interface Pacer {
  /**
   * Takes a permit to send one message part now and returns 0; otherwise does not take a permit and
   * returns the delay in ms.
   */
  take(chat: PacedChat, now: number): number;
  /** Takes a permit to send one preview; returns false when the preview could delay an answer. */
  takeSpare(chat: PacedChat, now: number): boolean;
  /**
   * Pauses for as long as the platform requested: this chat, or the entire account if no chat is
   * given.
   */
  pause(now: number, forMs: number, chat?: PacedChat): void;
}

/** At least this many buckets are kept; beyond that, full ones are dropped. */
const KEPT_CHATS = 1_000;
/** An account or chat without a declared rate still pauses when the platform requests it. */
const UNLIMITED: Rate = { burst: 1, everyMs: 0 };

/**
 * Paces an account by the rates that its adapter declares, with one token bucket for the account
 * and one per chat. A pause leaves one token in the bucket, so that no burst follows a refusal. The
 * buckets are held in memory, so after a restart the platform may refuse one more send.
 */
export function createPacer(rates: Capabilities['rates'] = {}): Pacer {
  let account = 0;
  const ofAccount = rates.account ?? UNLIMITED;
  const chats = new Map<string, number>();
  const rateOf = ({ chatType = 'direct' }: PacedChat): Rate =>
    (chatType === 'direct' ? rates.direct : rates.group) ?? UNLIMITED;
  /** Takes a token from both buckets, provided that each keeps the given number. */
  const take = (chat: PacedChat, now: number, keep: { account: number; chat: number }): number => {
    const { chatId } = chat;
    const ofChat = rateOf(chat);
    const fullAt = chats.get(chatId) ?? 0;
    const wait = Math.max(
      computeWait(account, ofAccount, keep.account, now),
      computeWait(fullAt, ofChat, keep.chat, now),
    );
    if (wait > 0) return wait;
    account = takeToken(account, ofAccount, now);
    if (ofChat !== UNLIMITED) storeChatBucket(chats, chatId, takeToken(fullAt, ofChat, now), now);
    return 0;
  };
  return {
    take: (chat, now) => take(chat, now, { account: 0, chat: 0 }),
    takeSpare: (chat, now) =>
      take(chat, now, {
        account: Math.floor(ofAccount.burst / 2),
        chat: Math.min(1, rateOf(chat).burst - 1),
      }) === 0,
    pause(now, forMs, chat) {
      if (chat === undefined)
        account = Math.max(account, createBucketWithOneToken(ofAccount, now + forMs));
      else {
        const fullAt = Math.max(
          chats.get(chat.chatId) ?? 0,
          createBucketWithOneToken(rateOf(chat), now + forMs),
        );
        storeChatBucket(chats, chat.chatId, fullAt, now);
      }
    },
  };
}

/**
 * A bucket is represented by the time at which it will be full again: the generic cell rate
 * algorithm, which needs one number and no timer.
 * @returns The delay in ms until the bucket has one token more than it must keep.
 */
function computeWait(fullAt: number, rate: Rate, keep: number, now: number): number {
  return Math.max(0, Math.ceil(fullAt - (rate.burst - 1 - keep) * rate.everyMs - now));
}

function takeToken(fullAt: number, rate: Rate, now: number): number {
  return Math.max(fullAt, now) + rate.everyMs;
}

/** A bucket that has exactly one token at that time. */
function createBucketWithOneToken(rate: Rate, at: number): number {
  return at + (rate.burst - 1) * rate.everyMs;
}

function storeChatBucket(
  chats: Map<string, number>,
  chatId: string,
  fullAt: number,
  now: number,
): void {
  if (chats.size >= KEPT_CHATS) for (const [id, at] of chats) if (at <= now) chats.delete(id);
  chats.set(chatId, fullAt);
}
