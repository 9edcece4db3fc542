import type { ChannelAdapter, ChannelContext } from '@parley/channels';
import type { Capabilities } from '@parley/contracts';
import { realAmbience, type TelegramAmbience } from './ambience.ts';
import { MAX_TEXT } from './plain-text.ts';
import { Poller } from './poller.ts';
import { sendText } from './send-text.ts';
import type { TelegramSettings } from './settings.ts';
import { connectTelegramApi } from './telegram-api.ts';
import { toInbound } from './to-inbound.ts';
import { type BotIdentity, WireMessage, type WireUpdate } from './wire-message.ts';

const CAPABILITIES: Capabilities = {
  // Telegram counts code points by one measurement; UTF-16 units are never fewer, so they are safe.
  target: { dialect: 'telegram', maxLength: MAX_TEXT, unit: 'utf16' },
  idempotentSend: false,
  typing: true,
  edit: false,
  delete: false,
  react: false,
  threads: true,
  buttons: false,
  streaming: 'none',
  media: [],
};

/** Telegram shows "typing" for 5 s. */
const TYPING_REPEAT_MS = 4_000;

/** One Telegram bot: long polling in, text out. Nothing goes over the network before `start`. */
export function createTelegramAdapter(
  context: ChannelContext<TelegramSettings>,
  ambience: TelegramAmbience = realAmbience,
): ChannelAdapter {
  const { account, clock, log, receive, report, settings } = context;
  const api = connectTelegramApi(settings);
  const stopping = new AbortController();
  let polling: Promise<void> | undefined;

  const take = async (update: WireUpdate, me: BotIdentity): Promise<void> => {
    if (update.message === undefined) return;
    const message = WireMessage.safeParse(update.message);
    if (!message.success) {
      log.warn(
        { update: update.update_id, reason: message.error.message },
        'message not understood',
      );
      return;
    }
    await receive(toInbound(message.data, account, me));
  };

  return {
    capabilities: CAPABILITIES,
    async start() {
      report({ kind: 'starting' });
      const poller = new Poller({ api, take, laneOf, report, log, clock, ...ambience });
      polling ??= poller.run(stopping.signal);
    },
    async stop() {
      stopping.abort();
      await polling;
      report({ kind: 'stopped' });
    },
    send: (part, signal) =>
      sendText(api, part, (facts, message) => log.warn(facts, message), signal),
    typing: {
      repeatMs: TYPING_REPEAT_MS,
      show: ({ chatId, threadId }) => api.showTyping(chatId, threadId, stopping.signal),
    },
  };
}

/** Messages of one chat are taken in order; anything else has nothing to wait for. */
function laneOf(update: WireUpdate): string {
  const message = WireMessage.pick({ chat: true }).safeParse(update.message);
  return message.success ? String(message.data.chat.id) : `update ${update.update_id}`;
}
