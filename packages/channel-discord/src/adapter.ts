import {
  type ChannelAdapter,
  type ChannelContext,
  type ChannelEnv,
  realEnv,
} from '@parley/channels';
import type { Capabilities } from '@parley/core';
import { DiscordApi } from './api.ts';
import { startTimer } from './connection.ts';
import { translateFailure } from './failures.ts';
import { createFiles } from './files.ts';
import { Receiver } from './receiver.ts';
import { InteractionResponder, isResponseBound } from './responses.ts';
import { createMessageCapability, sendPart } from './send.ts';
import { type DiscordSettings, MAX_TEXT } from './settings.ts';
import { AnswerStreamManager } from './stream.ts';
import { AnswerThreadManager } from './threads.ts';

const CAPABILITIES: Capabilities = {
  // Discord does not document the units in which it counts. The number of UTF-16 units is never
  // lower than the number of any other unit, so counting UTF-16 units is safe.
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
  inputs: true,
  // A menu with 25 choices, a button that asks for text, and a button for canceling.
  maxButtons: 27,
  streaming: 'replace',
  media: ['image', 'audio', 'voice', 'video', 'document'],
  // The file size that every server accepts; boosted servers accept larger files.
  maxFileBytes: 10 * 1024 * 1024,
  // Rates are not declared, because discord.js respects the rate limit buckets in Discord's
  // responses.
};

/** Discord shows "typing" for 10 s, so the interval (ms) is shorter than that. */
const TYPING_REPEAT_MS = 8_000;
/**
 * The interval between edits, in ms. Discord allows five edits in five seconds per channel, and
 * other messages share this limit.
 */
const EDIT_INTERVAL_MS = 1_200;

/** One Discord bot. It does not make network requests before `start`. */
export function createDiscordAdapter(
  context: ChannelContext<DiscordSettings>,
  env: ChannelEnv = realEnv,
): ChannelAdapter {
  const { clock, log, report, settings, values } = context;
  const { linkPreviews } = settings;
  const api = new DiscordApi(settings, context);
  const streams = new AnswerStreamManager({ api, values, linkPreviews, log, later: startTimer });
  const responses = new InteractionResponder({ api });
  const receiver = new Receiver(context, env, { api, responses });
  const threads = new AnswerThreadManager({
    ...context,
    api,
    me: () => receiver.me,
    isThread: (id) => receiver.isThread(id),
  });
  return {
    capabilities: CAPABILITIES,
    async start() {
      report({ kind: 'starting' });
      receiver.start();
    },
    async stop() {
      streams.close();
      await receiver.stop();
      api.close();
      report({ kind: 'stopped' });
    },
    send: (part, signal) =>
      sendPart({ api, streams, responses, threads, linkPreviews, log }, part, signal),
    typing: {
      repeatMs: TYPING_REPEAT_MS,
      show: async (address) => {
        if (isResponseBound(address)) return;
        const { chatId, threadId = chatId } = threads.known(address);
        return translateFailure(threadId, () => api.showTyping(threadId));
      },
    },
    streaming: {
      minIntervalMs: EDIT_INTERVAL_MS,
      // Discord shows "thinking" below a command until the answer is complete.
      update: async (address, turnId, answer) => {
        if (address.response !== undefined) return;
        await translateFailure(address.threadId ?? address.chatId, async () =>
          streams.update(await threads.open(address), turnId, answer),
        );
      },
      // The parts of the finished answer replace the streamed messages.
      end: async (address, turnId, comes) => {
        if (comes !== 'nothing') return;
        if (address.response === undefined) await streams.discard(threads.known(address), turnId);
        else await translateFailure(address.chatId, () => responses.drop(address));
      },
    },
    files: createFiles({ api, apiRoot: settings.apiRoot, clock }),
    messages: createMessageCapability(api, linkPreviews),
  };
}
