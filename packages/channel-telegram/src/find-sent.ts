import type { BeforePart } from '@parley/channels';
import type { OutboundPart } from '@parley/core';
import type { TelegramApi } from './api.ts';
import { aloneOn } from './ephemeral.ts';
import { callFailureOf } from './failures.ts';
import { keyboardOf, messageNumber } from './format.ts';
import { isOfSupergroup, type MovedChats } from './moved-chats.ts';
import { isForeignChat } from './places.ts';

/** So many messages of other chats, and such that waited unread, may have been numbered in between. */
const MAX_TRIES = 120;
/** Supergroups and channels number their own messages; all other chats of a bot share one row of numbers. */
const OWN_NUMBERS = /^-100\d{10}/;
/** Chats of business accounts and of guests have numbers that the bot's own chats know nothing of. */
const IN_ITS_CHAT = /^\d+s?(?::|$)/;

/** The chat to search for a message of the bot, and the numbers of its other messages. */
interface Search {
  readonly chatId: string;
  readonly first: number;
  readonly isOther: (number: number) => boolean;
  /** The keyboard of the message that is looked for, as the Bot API takes it. */
  readonly keyboard: { readonly reply_markup?: object };
}

/**
 * Looks for the first message of the bot from a number on. Telegram shows a bot no messages, but refuses to give a
 * message the buttons that it has, and says with it whether there is one of the bot's own at this number. Rejects
 * where Telegram cannot be asked.
 */
export async function lookFor(
  api: Pick<TelegramApi, 'call'>,
  { chatId, first, isOther, keyboard }: Search,
  signal: AbortSignal,
): Promise<number | undefined> {
  for (let number = first; number < first + MAX_TRIES; number += 1) {
    if (isOther(number)) continue;
    const place = { chat_id: chatId, message_id: number };
    try {
      await api.call('editMessageReplyMarkup', { ...place, ...keyboard }, signal);
      return undefined;
    } catch (thrown) {
      const failure = callFailureOf(thrown);
      if (failure.kind !== 'refused' || failure.code !== 400) throw thrown;
      if (/message is not modified/i.test(failure.reason)) return number;
      if (!/message to edit not found|message can't be edited/i.test(failure.reason))
        return undefined;
    }
  }
  return undefined;
}

interface FindDeps {
  readonly api: Pick<TelegramApi, 'call'>;
  readonly moved: MovedChats;
  /** Whether an answer grows in a message: no other part was sent as it. */
  readonly isGrowing: (chatId: string, number: number) => boolean;
}

/** Finds a part that may have been sent; the numbers that follow the last one known before are asked for. */
export async function findSent(
  { api, moved, isGrowing }: FindDeps,
  part: OutboundPart,
  before: BeforePart,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { chatId, threadId } = part.route;
  // The numbers there are of a row that the bot does not see.
  if (isForeignChat(threadId)) return undefined;
  const first = firstNumber(chatId, before, moved.now(chatId));
  // A file and a text that does not fit below it are two messages. What one person alone sees has no number.
  const isAlone = aloneOn(part.route) !== undefined;
  if (first === undefined || part.file !== undefined || isAlone) return undefined;
  const search = { chatId, first, keyboard: keyboardOf(part.buttons) };
  const number = await lookFor(
    api,
    { ...search, isOther: (each) => isGrowing(chatId, each) },
    signal,
  ).catch(() => undefined);
  return number === undefined ? undefined : moved.idOf(chatId, String(number));
}

/** The row of numbers that a chat's messages are in; `now` is Telegram's id of it. */
export function numberSequence(now: string): string {
  return OWN_NUMBERS.test(now) ? now : 'shared';
}

/**
 * The smallest number that a part of this chat can have; undefined where nothing is known, or where what is
 * found might be another part that is uncertain.
 */
export function firstNumber(
  chatId: string,
  { known, uncertainAt }: BeforePart,
  now: string = chatId,
): number | undefined {
  const hasOwn = OWN_NUMBERS.test(now);
  // Those of a group from before it became a supergroup are in the common row.
  const isMoved = chatId !== now;
  const numbered = known.filter(({ messageId }) => IN_ITS_CHAT.test(messageId));
  const row = numbered.filter((each) =>
    hasOwn
      ? each.chatId === chatId && isOfSupergroup(each.messageId) === isMoved
      : !OWN_NUMBERS.test(each.chatId) && !isOfSupergroup(each.messageId),
  );
  // What was sent since has a higher number than that part; what came in may have been waiting for long.
  const isDoubtful = ({ direction, at }: (typeof row)[number]) =>
    direction === 'in' || at <= (uncertainAt ?? 0);
  if (uncertainAt !== null && row.every(isDoubtful)) return undefined;
  const numbers = row.flatMap(({ messageId }) => messageNumber(messageId) ?? []);
  return numbers.length === 0 ? undefined : Math.max(...numbers) + 1;
}
