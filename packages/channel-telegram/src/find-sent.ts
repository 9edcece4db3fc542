import type { ChatStateBeforePart } from '@parley/channels';
import type { OutboundPart } from '@parley/core';
import type { TelegramApi } from './api.ts';
import { findSoleRecipient } from './ephemeral.ts';
import { toCallFailure } from './failures.ts';
import { parseMessageNumber, toKeyboard } from './format.ts';
import { isSupergroupMessage, type MovedChatRegistry } from './moved-chats.ts';
import { isForeignChat } from './places.ts';

/**
 * The maximum number of message numbers to try. Messages of other chats and unread pending messages
 * may have taken numbers in the same sequence.
 */
const MAX_TRIES = 120;
/**
 * Supergroups and channels number their own messages; all other chats of a bot share one sequence.
 */
const OWN_NUMBERS = /^-100\d{10}/;
/**
 * Message ids of the bot's own chats. Chats of business accounts and guests have a separate
 * sequence.
 */
const IN_ITS_CHAT = /^\d+s?(?::|$)/;

/** A chat to search for one of the bot's messages, and the numbers of its other messages. */
interface SentMessageSearch {
  readonly chatId: string;
  readonly first: number;
  readonly isOther: (number: number) => boolean;
  /** The keyboard of the message being searched for, in the form of the Bot API. */
  readonly keyboard: { readonly reply_markup?: object };
}

/**
 * Searches for the bot's first message from a given number on. Telegram does not let a bot read
 * messages. However, Telegram refuses to set buttons that a message already has, and this refusal
 * reveals whether a number belongs to one of the bot's messages.
 */
export async function findFirstBotMessage(
  api: Pick<TelegramApi, 'call'>,
  { chatId, first, isOther, keyboard }: SentMessageSearch,
  signal: AbortSignal,
): Promise<number | undefined> {
  for (let number = first; number < first + MAX_TRIES; number += 1) {
    if (isOther(number)) continue;
    const place = { chat_id: chatId, message_id: number };
    try {
      await api.call('editMessageReplyMarkup', { ...place, ...keyboard }, signal);
      return undefined;
    } catch (thrown) {
      const failure = toCallFailure(thrown);
      if (failure.kind !== 'refused' || failure.code !== 400) throw thrown;
      if (/message is not modified/i.test(failure.reason)) return number;
      if (!/message to edit not found|message can't be edited/i.test(failure.reason))
        return undefined;
    }
  }
  return undefined;
}

interface FindSentDeps {
  readonly api: Pick<TelegramApi, 'call'>;
  readonly moved: MovedChatRegistry;
  /** Whether an answer is growing in this message, so that it cannot be another part. */
  readonly isGrowing: (chatId: string, number: number) => boolean;
}

/**
 * Finds a message part that may have been sent, by trying the numbers after the last one known from
 * before.
 */
export async function findSentPart(
  { api, moved, isGrowing }: FindSentDeps,
  part: OutboundPart,
  before: ChatStateBeforePart,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { chatId, threadId } = part.route;
  // The bot cannot observe the numbering in business and guest chats.
  if (isForeignChat(threadId)) return undefined;
  const first = findFirstNumber(chatId, before, moved.now(chatId));
  // A file with a text too long for its caption becomes two messages. A message that only one
  // person sees has no number.
  const isAlone = findSoleRecipient(part.route) !== undefined;
  if (first === undefined || part.file !== undefined || isAlone) return undefined;
  const search = { chatId, first, keyboard: toKeyboard(part.buttons) };
  const number = await findFirstBotMessage(
    api,
    { ...search, isOther: (each) => isGrowing(chatId, each) },
    signal,
  ).catch(() => undefined);
  return number === undefined ? undefined : moved.idOf(chatId, String(number));
}

/** The sequence that numbers a chat's messages; `now` is Telegram's current id of the chat. */
export function getNumberSequence(now: string): string {
  return OWN_NUMBERS.test(now) ? now : 'shared';
}

/**
 * The smallest number that a message part can have; undefined when no number is known, or when the
 * message found might be another part with an unknown outcome.
 */
export function findFirstNumber(
  chatId: string,
  { known, uncertainAt }: ChatStateBeforePart,
  now: string = chatId,
): number | undefined {
  const hasOwn = OWN_NUMBERS.test(now);
  // Messages from before a group became a supergroup are in the shared sequence.
  const isMoved = chatId !== now;
  const numbered = known.filter(({ messageId }) => IN_ITS_CHAT.test(messageId));
  const row = numbered.filter((each) =>
    hasOwn
      ? each.chatId === chatId && isSupergroupMessage(each.messageId) === isMoved
      : !OWN_NUMBERS.test(each.chatId) && !isSupergroupMessage(each.messageId),
  );
  // A message sent since then has a higher number than the part; a message received since then may
  // have been pending for a long time.
  const isDoubtful = ({ direction, at }: (typeof row)[number]) =>
    direction === 'in' || at <= (uncertainAt ?? 0);
  if (uncertainAt !== null && row.every(isDoubtful)) return undefined;
  const numbers = row.flatMap(({ messageId }) => parseMessageNumber(messageId) ?? []);
  return numbers.length === 0 ? undefined : Math.max(...numbers) + 1;
}
