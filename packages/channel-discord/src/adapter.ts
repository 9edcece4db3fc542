import type { ChannelAdapter, ChannelContext } from '@parley/channels';
import type { Capabilities } from '@parley/contracts';
import { type DiscordAmbience, realAmbience } from './ambience.ts';
import { createMessageFacet } from './change-messages.ts';
import { connectDiscordApi } from './discord-api.ts';
import { createFiles } from './files.ts';
import { later } from './later.ts';
import { MAX_TEXT } from './message-body.ts';
import { Receiving } from './receiving.ts';
import { translated } from './send-failure.ts';
import { sendPart } from './send-part.ts';
import type { DiscordSettings } from './settings.ts';
import { Streams } from './streams.ts';

const CAPABILITIES: Capabilities = {
  // Which characters Discord counts it does not say; UTF-16 units are never fewer, so they are safe.
  target: { dialect: 'discord', maxLength: MAX_TEXT, unit: 'utf16' },
  idempotentSend: true,
  // Discord remembers a nonce for "the past few minutes": https://discord.com/developers/docs/resources/message
  idempotentForMs: 180_000,
  typing: true,
  edit: true,
  delete: true,
  react: true,
  threads: true,
  quotes: true,
  buttons: true,
  streaming: 'replace',
  media: ['image', 'audio', 'voice', 'video', 'document'],
  // No rates: discord.js counts the buckets that Discord names with each answer.
};

/** Discord shows "typing" for 10 s. */
const TYPING_REPEAT_MS = 8_000;
/** Five edits in five seconds are allowed in a channel; one a second leaves some for others. In ms. */
const EDIT_EVERY_MS = 1_200;

/** One Discord bot. Nothing goes over the network before `start`. */
export function createDiscordAdapter(
  context: ChannelContext<DiscordSettings>,
  ambience: DiscordAmbience = realAmbience,
): ChannelAdapter {
  const { clock, log, report, settings, values } = context;
  const { linkPreviews } = settings;
  const api = connectDiscordApi(settings);
  const streams = new Streams({ api, values, linkPreviews, log, later });
  const receiving = new Receiving(context, ambience, api);
  return {
    capabilities: CAPABILITIES,
    async start() {
      report({ kind: 'starting' });
      receiving.start();
    },
    async stop() {
      await receiving.stop();
      streams.close();
      api.close();
      report({ kind: 'stopped' });
    },
    send: (part, signal) => sendPart({ api, streams, linkPreviews, log }, part, signal),
    typing: {
      repeatMs: TYPING_REPEAT_MS,
      show: ({ chatId, threadId = chatId }) => translated(threadId, () => api.showTyping(threadId)),
    },
    streaming: {
      minIntervalMs: EDIT_EVERY_MS,
      update: (address, turnId, answer) =>
        translated(address.threadId ?? address.chatId, () =>
          streams.update(address, turnId, answer),
        ),
      // The parts of the finished answer take the places of what is shown.
      end: async (address, turnId, comes) => {
        if (comes === 'nothing') await streams.discard(address, turnId);
      },
    },
    files: createFiles({ api, apiRoot: settings.apiRoot, clock }),
    messages: createMessageFacet(api, linkPreviews),
  };
}
