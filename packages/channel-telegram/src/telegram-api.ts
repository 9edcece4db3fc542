import { globalAgent } from 'node:https';
import { Telegram } from 'telegraf';
import { z } from 'zod';
import type { TelegramSettings } from './settings.ts';
import { BotIdentity, WireUpdate } from './wire-message.ts';

/** One message to send; `html` is Telegram's dialect, otherwise the text is shown as it is. */
export interface TextOrder {
  readonly chatId: string;
  readonly threadId?: string | undefined;
  readonly replyTo?: string | undefined;
  readonly text: string;
  readonly html: boolean;
}

/** The calls Parley makes. They reject with what telegraf throws; `callFailureOf` reads it. */
export interface TelegramApi {
  getMe(signal: AbortSignal): Promise<BotIdentity>;
  /** Waits up to `waitSeconds` for updates from `offset` on, and confirms all before it. */
  getUpdates(offset: number, waitSeconds: number, signal: AbortSignal): Promise<WireUpdate[]>;
  /** Keeps the updates that wait. */
  deleteWebhook(signal: AbortSignal): Promise<void>;
  /** Gives back the id of the new message. */
  sendText(order: TextOrder, signal: AbortSignal): Promise<string>;
  showTyping(chatId: string, threadId: string | undefined, signal: AbortSignal): Promise<void>;
}

type CallOptions = NonNullable<Parameters<Telegram['callApi']>[2]>;

/** Longest a quick call may take, in ms; telegraf itself would wait 500 s. */
const CALL_TIMEOUT_MS = 15_000;
const SentMessage = z.object({ message_id: z.int() });

/** Telegraf as the one way to the Bot API; nothing of it shows outside. */
export function connectTelegramApi(settings: TelegramSettings): TelegramApi {
  const apiRoot = withTrailingSlash(settings.apiRoot);
  // Node's own agent drops idle connections after 5 s, before a server may close them under a send.
  const telegram = new Telegram(settings.token, {
    apiRoot,
    agent: globalAgent,
    webhookReply: false,
  });
  const within = (ms: number, signal: AbortSignal) =>
    until(AbortSignal.any([signal, AbortSignal.timeout(ms)]));
  return {
    async getMe(signal) {
      return BotIdentity.parse(
        await telegram.callApi('getMe', {}, within(CALL_TIMEOUT_MS, signal)),
      );
    },
    async getUpdates(offset, waitSeconds, signal) {
      const wish = { offset, timeout: waitSeconds, allowed_updates: ['message'] as const };
      const limit = within(waitSeconds * 1000 + CALL_TIMEOUT_MS, signal);
      return z.array(WireUpdate).parse(await telegram.callApi('getUpdates', wish, limit));
    },
    async deleteWebhook(signal) {
      await telegram.callApi('deleteWebhook', {}, within(CALL_TIMEOUT_MS, signal));
    },
    async sendText(order, signal) {
      const payload = payloadOf(order, settings.linkPreviews);
      return String(
        SentMessage.parse(await telegram.callApi('sendMessage', payload, until(signal))).message_id,
      );
    },
    async showTyping(chatId, threadId, signal) {
      const payload = { chat_id: chatId, action: 'typing' as const, ...threadOf(threadId) };
      await telegram.callApi('sendChatAction', payload, within(CALL_TIMEOUT_MS, signal));
    },
  };
}

/** Telegraf names the signal type of an old polyfill; the one of Node works, as it is told by its name. */
function until(signal: AbortSignal): CallOptions {
  return { signal } as unknown as CallOptions;
}

/** Without it telegraf loses the last step of a path: `http://h/proxy` would become `http://h/`. */
function withTrailingSlash(address: string): string {
  return address.endsWith('/') ? address : `${address}/`;
}

/** An answer whose question is gone by now is sent all the same. */
function payloadOf(order: TextOrder, linkPreviews: boolean) {
  const { chatId, threadId, replyTo, text, html } = order;
  return {
    chat_id: chatId,
    text,
    ...(html ? { parse_mode: 'HTML' as const } : {}),
    ...(linkPreviews ? {} : { link_preview_options: { is_disabled: true } }),
    ...threadOf(threadId),
    ...(replyTo === undefined
      ? {}
      : { reply_parameters: { message_id: Number(replyTo), allow_sending_without_reply: true } }),
  };
}

function threadOf(threadId: string | undefined): { message_thread_id?: number } {
  return threadId === undefined ? {} : { message_thread_id: Number(threadId) };
}
