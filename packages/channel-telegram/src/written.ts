import type { ChannelContext, IngressOutcome } from '@parley/channels';
import type { InboundMessage } from '@parley/core';
import type { z } from 'zod';
import type { TelegramApi } from './api.ts';
import { createBusinessAccounts } from './business.ts';
import { findIgnoreReason, toInbound } from './content.ts';
import { toMessageId } from './ephemeral.ts';
import { describeMove, type MovedChatRegistry } from './moved-chats.ts';
import { formatMessageId, getMessageLocation, isForeignChat, toThreadId } from './places.ts';
import { type BotIdentity, type WireConnection, type WireDeletion, WireMessage } from './wire.ts';

export interface MessageDeps
  extends Pick<
    ChannelContext<unknown>,
    'account' | 'commands' | 'revise' | 'ignored' | 'notifyOwner' | 'log'
  > {
  readonly moved: MovedChatRegistry;
  readonly api: Pick<TelegramApi, 'telegram'>;
  /** Called with every message in one of the bot's own chats, edited or not. */
  readonly seen: (message: WireMessage) => void;
}

/** Without the connection id, such a message would be mistaken for one in the bot's own chat. */
export const BusinessMessage = WireMessage.refine(
  ({ business_connection_id: id }) => id !== undefined,
  'it does not name a business connection',
);
export const GuestMessage = WireMessage.refine(
  ({ guest_query_id: id }) => id !== undefined,
  'it does not name a guest query',
);

/** Creates the readers of messages in all kinds of chats; `receive` handles a new message. */
export function createMessageReaders(
  deps: MessageDeps,
  receive: (message: InboundMessage) => Promise<IngressOutcome>,
) {
  const { account, commands, revise, seen, moved } = deps;
  const business = createBusinessAccounts(deps);
  /**
   * Passes a person's message to `then`; messages that do not concern the agent are only recorded.
   */
  const admit = async (
    message: WireMessage,
    me: BotIdentity,
    then: (inbound: InboundMessage) => Promise<unknown>,
  ): Promise<void> => {
    // Chats of business accounts and guests number their messages separately.
    if (!isForeignChat(toThreadId(getMessageLocation(message)))) seen(message);
    await handleChatMigration(deps, message);
    const reason = findIgnoreReason(message);
    if (reason !== undefined) return recordIgnoredMessage(deps, message, reason);
    const placed = await business.place(toInbound(message, account, me, commands));
    if (placed.kind === 'ignored') await recordIgnoredMessage(deps, message, placed.reason);
    else await then(placed.message);
  };
  return {
    sent: (message: WireMessage, me: BotIdentity) => admit(message, me, receive),
    edited: (message: WireMessage, me: BotIdentity) =>
      admit(message, me, (inbound) => revise({ kind: 'edited', message: moved.named(inbound) })),
    async deleted(deletion: z.infer<typeof WireDeletion>): Promise<void> {
      const { business_connection_id: connection, chat, message_ids } = deletion;
      const threadId = toThreadId({ kind: 'business', connection });
      for (const number of message_ids) {
        const messageId = formatMessageId(threadId, number);
        await revise({ kind: 'deleted', chatId: String(chat.id), messageId });
      }
    },
    connected: async (connection: WireConnection) => business.changed(connection),
    /** Adds the business account of its chat to a button press. */
    async pressed(message: InboundMessage): Promise<IngressOutcome> {
      const placed = await business.place(message);
      return placed.kind === 'served' ? receive(placed.message) : placed;
    },
  };
}

/** Records a message that does not start a turn. */
async function recordIgnoredMessage(
  { moved, ignored }: MessageDeps,
  message: WireMessage,
  reason: string,
): Promise<void> {
  const chatId = moved.first(String(message.chat.id));
  const threadId = toThreadId(getMessageLocation(message));
  const event = {
    chatId,
    messageId: moved.idOf(chatId, formatMessageId(threadId, toMessageId(message))),
    ...(message.from && { senderId: String(message.from.id) }),
    at: message.date * 1000,
  };
  await ignored(event, reason);
}

/**
 * Both the old and the new chat receive a message about the move, the old one first; the owner is
 * notified once.
 */
async function handleChatMigration(
  { moved, notifyOwner, log }: MessageDeps,
  { chat, migrate_to_chat_id, migrate_from_chat_id }: WireMessage,
): Promise<void> {
  const from = String(migrate_from_chat_id ?? chat.id);
  const to = String(migrate_to_chat_id ?? chat.id);
  if (from === to) return;
  // A refused send may already have reported the move.
  if (await moved.note(from, to)) {
    log.info(
      { chat: from, now: to },
      'a group became a supergroup; it keeps its original id in Parley',
    );
  }
  await notifyOwner(`moved ${from}`, describeMove(chat.title, from, to));
}
