import type { ChatAddress } from '@parley/channels';
import { threadOf } from './place.ts';
import type { TelegramApi } from './telegram-api.ts';
import type { WireMessage } from './wire-message.ts';

/** Telegram shows "typing" for 5 s. */
const REPEAT_MS = 4_000;
/** Forums that are remembered at most. */
const REMEMBERED = 10_000;

/** Shows "typing"; `seen` gets every message, to learn which chats have topics. */
export interface Typing {
  readonly repeatMs: number;
  show(address: ChatAddress): Promise<void>;
  readonly seen: (message: Pick<WireMessage, 'chat'>) => void;
}

/**
 * In the general topic of a forum "typing" is seen only with the number 1, with which messages there
 * are refused. That a chat is a forum is told by its messages alone.
 */
export function createTyping(api: Pick<TelegramApi, 'call'>, stopping: AbortSignal): Typing {
  const forums = new Set<string>();
  return {
    repeatMs: REPEAT_MS,
    async show({ chatId, threadId }) {
      const place = forums.has(chatId) ? { message_thread_id: 1 } : {};
      const payload = { chat_id: chatId, action: 'typing', ...place, ...threadOf(threadId) };
      await api.call('sendChatAction', payload, stopping);
    },
    seen({ chat }) {
      if (forums.size >= REMEMBERED) forums.clear();
      if (chat.is_forum === true) forums.add(String(chat.id));
      else forums.delete(String(chat.id));
    },
  };
}
