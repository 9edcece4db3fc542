import type { SenderFacts } from '@parley/channels';
import { BoundedMap, type InboundMessage, type Monotonic } from '@parley/core';
import { z } from 'zod';
import type { TelegramApi } from './api.ts';
import { isForeignChat } from './places.ts';

const ChatMember = z.object({ status: z.string() });
const ADMINISTRATORS: ReadonlySet<string> = new Set(['creator', 'administrator']);
/**
 * How long administrator status is cached, in ms. A demoted administrator keeps the status until
 * the entry expires.
 */
const KNOWN_FOR_MS = 60_000;
const MAX_CACHED = 1_000;

/**
 * Checks whether the sender of a message is an administrator of its group. Telegram is asked at
 * most once a minute per person, and only when a command needs the answer.
 */
export function createAdministratorLookup(
  api: Pick<TelegramApi, 'call'>,
  monotonic: Monotonic,
): (message: InboundMessage) => SenderFacts {
  const known = new BoundedMap<string, { readonly is: boolean; readonly until: number }>(
    MAX_CACHED,
  );
  return ({ chat, sender }) => ({
    async isAdministrator(signal) {
      // The bot is not a member of a business or guest chat, and its chat id may belong to a
      // different chat.
      if (isForeignChat(chat.threadId)) return false;
      // Anonymous administrators and channel posts have the chat itself as their sender; other
      // sender chats are not members.
      if (!/^\d+$/.test(sender.id)) return sender.id === chat.id || sender.id === chat.movedTo;
      const key = `${chat.id} ${sender.id}`;
      const before = known.get(key);
      if (before !== undefined && monotonic() < before.until) return before.is;
      const asked = { chat_id: chat.id, user_id: Number(sender.id) };
      const { status } = ChatMember.parse(await api.call('getChatMember', asked, signal));
      const is = ADMINISTRATORS.has(status);
      known.set(key, { is, until: monotonic() + KNOWN_FOR_MS });
      return is;
    },
  });
}
