import type { BeforePart } from '@parley/channels';
import type { OutboundPart } from '@parley/contracts';
import type { TelegramApi } from './connection.ts';
import { callFailureOf } from './failures.ts';
import { keyboardOf, messageNumber } from './format.ts';

/** So many messages of other chats, and such that waited unread, may have been numbered in between. */
const MOST_LOOKS = 120;
/** Supergroups and channels number their own messages; all other chats of a bot share one row of numbers. */
const OWN_NUMBERS = /^-100\d{10}/;

/**
 * Finds a part that may have been sent. Telegram shows a bot no messages, but refuses to give a message the
 * buttons that it has, and says with it whether there is one of the bot's own at this number. The numbers that
 * follow the last one known before are asked for, in order.
 */
export async function findSent(
  api: Pick<TelegramApi, 'call'>,
  part: OutboundPart,
  before: BeforePart,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { chatId } = part.route;
  const first = firstNumber(chatId, before);
  // A file and the words that do not fit below it are two messages.
  if (first === undefined || part.file !== undefined) return undefined;
  const keyboard = keyboardOf(part.buttons);
  for (let number = first; number < first + MOST_LOOKS; number += 1) {
    const place = { chat_id: chatId, message_id: number };
    try {
      await api.call('editMessageReplyMarkup', { ...place, ...keyboard }, signal);
      return undefined;
    } catch (thrown) {
      const failure = callFailureOf(thrown);
      if (failure.kind !== 'refused' || failure.code !== 400) return undefined;
      if (/message is not modified/i.test(failure.reason)) return String(number);
      if (!/message to edit not found|message can't be edited/i.test(failure.reason))
        return undefined;
    }
  }
  return undefined;
}

/**
 * The smallest number that a part of this chat can have; undefined where nothing is known, or where what is
 * found might be another part that is uncertain.
 */
export function firstNumber(
  chatId: string,
  { known, uncertainAt }: BeforePart,
): number | undefined {
  const hasOwn = OWN_NUMBERS.test(chatId);
  const row = known.filter((each) =>
    hasOwn ? each.chatId === chatId : !OWN_NUMBERS.test(each.chatId),
  );
  // What was sent since has a higher number than that part; what came in may have been waiting for long.
  const isDoubtful = ({ direction, at }: (typeof row)[number]) =>
    direction === 'in' || at <= (uncertainAt ?? 0);
  if (uncertainAt !== null && row.every(isDoubtful)) return undefined;
  const numbers = row.flatMap(({ messageId }) => messageNumber(messageId) ?? []);
  return numbers.length === 0 ? undefined : Math.max(...numbers) + 1;
}
