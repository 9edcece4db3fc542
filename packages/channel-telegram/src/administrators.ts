import type { SenderFacts } from '@parley/channels';
import { BoundedMap, type Clock, type InboundMessage } from '@parley/contracts';
import { z } from 'zod';
import type { TelegramApi } from './connection.ts';

const ChatMember = z.object({ status: z.string() });
const ADMINISTRATORS: ReadonlySet<string> = new Set(['creator', 'administrator']);
/** Somebody who is no administrator any more counts as one for this long. In ms. */
const KNOWN_FOR_MS = 60_000;
const MOST_KNOWN = 1_000;

/**
 * Finds out whether the sender of a message is an administrator of its group. Telegram is asked once a
 * minute for each person, and only when a command needs it.
 */
export function createAdministrators(
  api: Pick<TelegramApi, 'call'>,
  clock: Clock,
): (message: InboundMessage) => SenderFacts {
  const known = new BoundedMap<string, { readonly is: boolean; readonly until: number }>(
    MOST_KNOWN,
  );
  return ({ chat, sender }) => ({
    async isAdministrator(signal) {
      // Anonymous administrators and posts of a channel count as the chat itself; other chats are no members.
      if (!/^\d+$/.test(sender.id)) return sender.id === chat.id;
      const key = `${chat.id} ${sender.id}`;
      const before = known.get(key);
      if (before !== undefined && clock() < before.until) return before.is;
      const asked = { chat_id: chat.id, user_id: Number(sender.id) };
      const { status } = ChatMember.parse(await api.call('getChatMember', asked, signal));
      const is = ADMINISTRATORS.has(status);
      known.set(key, { is, until: clock() + KNOWN_FOR_MS });
      return is;
    },
  });
}
