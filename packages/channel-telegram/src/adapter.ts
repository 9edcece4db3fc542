import {
  type ChannelAdapter,
  type ChannelContext,
  type ChannelEnv,
  realEnv,
} from '@parley/channels';
import type { Capabilities } from '@parley/core';
import { connectTelegramApi } from './api.ts';
import type { Bot, BotDeps } from './bot.ts';
import { createCaller } from './calls.ts';
import { pollUpdates, Webhook } from './connection.ts';
import { createFiles, getFileLimits } from './files.ts';
import { findSentPart } from './find-sent.ts';
import { GrowingMessageManager } from './growing.ts';
import { createIntake } from './intake.ts';
import { registerMenu } from './menu.ts';
import { createMessageCapability } from './messages.ts';
import { MovedChatRegistry, withMovedChats } from './moved-chats.ts';
import { ChatNames } from './names.ts';
import { isForeignChat } from './places.ts';
import { canEditIntoPart, finalizeGrowingMessage, sendPart } from './send.ts';
import { MAX_TEXT, type TelegramSettings } from './settings.ts';
import { combineStreaming, createDraftStreaming, createTypingIndicator } from './stream.ts';
import type { BotIdentity, WireMessage } from './wire.ts';

const CAPABILITIES = {
  // Telegram counts code points. A text never has fewer UTF-16 units than code points, so counting
  // units is safe.
  target: { dialect: 'telegram', maxLength: MAX_TEXT, unit: 'utf16' },
  idempotentSend: false,
  typing: true,
  edit: true,
  delete: true,
  react: true,
  threads: true,
  quotes: true,
  buttons: true,
  streaming: 'replace',
  media: ['image', 'audio', 'voice', 'video', 'document'],
} satisfies Capabilities;

/**
 * Telegram allows 30 messages a second overall, about one a second in a private chat after a short
 * burst, and 20 a minute in a group.
 */
const RATES: Capabilities['rates'] = {
  account: { burst: 30, everyMs: 34 },
  direct: { burst: 3, everyMs: 1_000 },
  group: { burst: 5, everyMs: 4_000 },
};

function getCapabilities({ pace, richMessages }: TelegramSettings): Capabilities {
  const target = { ...CAPABILITIES.target, ...(richMessages && { rich: true as const }) };
  return { ...CAPABILITIES, target, ...(pace && { rates: RATES }) };
}

/** One Telegram bot, which does not make network requests before `start`. */
export function createTelegramAdapter(
  context: ChannelContext<TelegramSettings>,
  env: ChannelEnv = realEnv,
): ChannelAdapter {
  const { log, settings, values } = context;
  const stop = new AbortController();
  const stopping = stop.signal;
  const moved = new MovedChatRegistry(values);
  const call = createCaller(settings);
  const bot = createLazyBot(() => {
    return { token: settings.token, call: withMovedChats(call, moved), stopping, intake };
  });
  const api = connectTelegramApi(call, bot);
  const note = (facts: object, message: string): void => log.warn(facts, message);
  const names = new ChatNames(api, moved);
  const growing = new GrowingMessageManager({ ...context, api, moved, stopping });
  const forget = (turnId: string) => growing.forget(turnId);
  const { linkPreviews } = settings;
  const { upload: maxFileBytes } = getFileLimits(settings);
  const sending = { api, moved, values, linkPreviews, maxFileBytes, note, forget };
  const typing = createTypingIndicator(api, stopping);
  const { finish, stopped, ...drafts } = createDraftStreaming({ ...context, api, stopping });
  const seen = (message: WireMessage): void => {
    typing.seen(message);
    names.seen(message);
    growing.seen(message);
  };
  const intake = createIntake({ ...context, api, moved, seen, stopped });
  const admit: Bot['admit'] = async (update, me) => (await bot()).admit(update, me);
  let menu: Promise<void> | undefined;
  const connected = (me: BotIdentity): void => {
    menu ??= registerMenu({ ...context, api }, me, stopping);
  };
  const source = { ...context, ...env, api, admit, connected };
  const { webhook } = settings;
  const called = webhook && new Webhook({ ...source, webhook });
  let running: Promise<unknown> | undefined;
  return {
    capabilities: { ...getCapabilities(settings), maxFileBytes },
    async start() {
      context.report({ kind: 'starting' });
      running ??= called ? called.run(stopping) : pollUpdates(source, stopping);
    },
    async stop() {
      stop.abort();
      await running;
      await menu;
      context.report({ kind: 'stopped' });
    },
    reportsStart: true,
    findSent: createSentPartFinder(sending, growing),
    async send(part, signal, onStart) {
      const { turnId, route } = part;
      // A draft that arrives after the message would show its text a second time.
      if (turnId !== null) await finish(turnId);
      growing.mustBeQuiet(route.chatId);
      const receipt = await growing.claim(part, signal, (grown) =>
        sendPart({ ...sending, onStart }, part, signal, grown),
      );
      if (!isForeignChat(route.threadId)) growing.sent(route.chatId, receipt.platformMessageId);
      return receipt;
    },
    chatName: (address) => names.of(address),
    typing,
    streaming: combineStreaming(drafts, growing),
    files: createFiles({ api, settings }),
    messages: createMessageCapability({ api, moved }, linkPreviews, stopping),
    ...(called && { http: called }),
  };
}

/** Creates the bot on first use, which also loads telegraf. */
function createLazyBot(deps: () => BotDeps): () => Promise<Bot> {
  let loading: Promise<Bot> | undefined;
  return () => {
    loading ??= import('./bot.ts').then(({ createBot }) => createBot(deps()));
    return loading;
  };
}

/**
 * Sent parts are searched for one after another, which respects Telegram's rate limits. If an
 * answer has already grown in a dedicated message, that message is completed instead.
 */
function createSentPartFinder(
  sending: Parameters<typeof sendPart>[0],
  growing: GrowingMessageManager,
): NonNullable<ChannelAdapter['findSent']> {
  const isGrowing = growing.isGrowing.bind(growing);
  let looking: Promise<unknown> = Promise.resolve();
  return (part, before, signal) => {
    const find = async (): Promise<string | undefined> => {
      const finished = await growing.claim(part, signal, async (grown) =>
        grown && canEditIntoPart(part)
          ? finalizeGrowingMessage(sending, part, grown, signal)
          : undefined,
      );
      if (finished !== undefined) return finished.platformMessageId;
      return findSentPart({ ...sending, isGrowing }, part, before, signal);
    };
    const found = looking.then(find, find);
    looking = found;
    return found;
  };
}
