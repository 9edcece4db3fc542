import { ChannelError, type OutboundPart, type Receipt } from '@parley/contracts';
import { callFailureOf } from './call-failure.ts';
import { plainText } from './plain-text.ts';
import { isFormatRefusal, sendErrorOf } from './send-failure.ts';
import type { TelegramApi, TextOrder } from './telegram-api.ts';

/** What the sender notes on the way. */
export type SendNotes = (facts: object, message: string) => void;

/**
 * Sends one part. Two refusals are met by sending once more, which repeats nothing because Telegram
 * sent nothing: markup it cannot read goes as plain text, and a group that became a supergroup is
 * followed. Throws only `ChannelError`.
 */
export async function sendText(
  api: Pick<TelegramApi, 'sendText'>,
  part: OutboundPart,
  note: SendNotes,
  signal: AbortSignal,
): Promise<Receipt> {
  const { chatId, threadId, replyToMessageId: replyTo } = part.route;
  let order: TextOrder = { chatId, threadId, replyTo, text: part.body.text, html: true };
  for (;;) {
    if (signal.aborted) throw notStarted(chatId);
    try {
      const platformMessageId = await api.sendText(order, signal);
      const moved = order.chatId !== chatId;
      return { platformMessageId, ...(moved ? { migratedTo: order.chatId } : {}) };
    } catch (thrown) {
      const failure = callFailureOf(thrown);
      const migrateTo = failure.kind === 'refused' ? failure.migrateTo : undefined;
      if (migrateTo !== undefined && order.chatId === chatId) {
        note({ chatId, migrateTo }, 'the group became a supergroup; sending there');
        order = { ...order, chatId: migrateTo, replyTo: undefined };
      } else if (isFormatRefusal(failure) && order.html) {
        note({ part: part.id, reason: failure.reason }, 'markup refused; sending plain text');
        order = { ...order, text: plainText(part.body), html: false };
      } else {
        throw sendErrorOf(failure, order.chatId, thrown);
      }
    }
  }
}

function notStarted(chatId: string): ChannelError {
  return new ChannelError(
    { kind: 'transient' },
    `Telegram chat ${chatId}: stopped before sending.`,
  );
}
