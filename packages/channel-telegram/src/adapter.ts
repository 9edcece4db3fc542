import {
  type ChannelAdapter,
  type ChannelContext,
  type ChannelEnv,
  realEnv,
} from '@parley/channels';
import type { Capabilities } from '@parley/core';
import { connectTelegramApi } from './api.ts';
import { Poller, Webhook } from './connection.ts';
import { createFiles, MAX_UPLOAD_BYTES } from './files.ts';
import { MAX_TEXT } from './format.ts';
import { createAdmitUpdate } from './intake.ts';
import { registerMenu } from './menu.ts';
import { MovedChats, withMoves } from './moved-chats.ts';
import { createMessageFacet, findSent, sendPart } from './send.ts';
import type { TelegramSettings } from './settings.ts';
import { createDrafts, createTyping } from './stream.ts';
import type { BotIdentity } from './wire.ts';

const CAPABILITIES: Capabilities = {
  // Telegram counts code points by one measurement; UTF-16 units are never fewer, so they are safe.
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
  maxFileBytes: MAX_UPLOAD_BYTES,
};

/** 30 at once, then 30 a second; a few at once and one a second in a private chat; 20 in any minute of a group. */
const RATES: Capabilities['rates'] = {
  account: { burst: 30, everyMs: 34 },
  direct: { burst: 3, everyMs: 1_000 },
  group: { burst: 5, everyMs: 4_000 },
};

/** One Telegram bot. Nothing goes over the network before `start`. */
export function createTelegramAdapter(
  context: ChannelContext<TelegramSettings>,
  env: ChannelEnv = realEnv,
): ChannelAdapter {
  const { log, settings, values } = context;
  const stop = new AbortController();
  const stopping = stop.signal;
  const moved = new MovedChats(values);
  const api = withMoves(connectTelegramApi(settings), moved);
  const note = (facts: object, message: string): void => log.warn(facts, message);
  const sending = { api, moved, values, linkPreviews: settings.linkPreviews, note };
  const typing = createTyping(api, stopping);
  const { finish, ...streaming } = createDrafts({ ...context, api, stopping });
  const admit = createAdmitUpdate({ ...context, api, moved, stopping, seen: typing.seen });
  const connected = (me: BotIdentity) => registerMenu({ ...context, api }, me, stopping);
  const source = { ...context, ...env, api, admit, connected };
  const { webhook } = settings;
  const called = webhook && new Webhook({ ...source, webhook });
  let running: Promise<unknown> | undefined;
  let looking: Promise<unknown> = Promise.resolve();
  return {
    capabilities: settings.pace ? { ...CAPABILITIES, rates: RATES } : CAPABILITIES,
    async start() {
      context.report({ kind: 'starting' });
      running ??= (called ?? new Poller(source)).run(stopping);
    },
    async stop() {
      stop.abort();
      await running;
      context.report({ kind: 'stopped' });
    },
    reportsStart: true,
    findSent(part, before, signal) {
      // One after another, which keeps to Telegram's rates.
      const found = looking.then(() => findSent({ api, moved }, part, before, signal));
      looking = found;
      return found;
    },
    async send(part, signal, onStart) {
      // A draft that came after the message would show its text once more.
      if (part.turnId !== null) await finish(part.turnId);
      return sendPart({ ...sending, onStart }, part, signal);
    },
    typing,
    streaming,
    files: createFiles({ api, settings }),
    messages: createMessageFacet({ api, moved }, settings.linkPreviews, stopping),
    ...(called && { http: called }),
  };
}
