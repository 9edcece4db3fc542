import { readFile, stat } from 'node:fs/promises';
import type { ChatAddress, MessageCapability } from '@parley/channels';
import {
  BoundedMap,
  ChannelError,
  getOutboundFilePath,
  type Logger,
  type OutboundPart,
  type Receipt,
  reasonOf,
} from '@parley/core';
import type { RawFile } from 'discord.js';
import type { CallOptions, DiscordApi, MessageBody } from './api.ts';
import { createApprovalCard, createTextCard } from './component-layout.ts';
import { toCallFailure, translateFailure } from './failures.ts';
import { createContentBody, createOriginBody, createPartBody } from './format.ts';
import type { InteractionResponder } from './responses.ts';
import type { AnswerStreamManager, StreamedMessage } from './stream.ts';
import type { AnswerThreadManager } from './threads.ts';
import { createVoiceBody } from './voice.ts';

interface SendDeps {
  readonly api: Pick<DiscordApi, 'create' | 'change' | 'remove'>;
  readonly streams: Pick<AnswerStreamManager, 'claim'>;
  readonly responses: Pick<InteractionResponder, 'send'>;
  readonly threads: Pick<AnswerThreadManager, 'open'>;
  readonly linkPreviews: boolean;
  readonly log: Logger;
}

/**
 * The largest file, in bytes, that the most boosted servers accept. Servers with a lower limit
 * refuse larger files themselves.
 */
const LARGEST_FILE_BYTES = 100 * 1024 * 1024;

/**
 * Sends one message part: changes the message that was streamed for it, or creates a new message.
 * Discord recognizes a message by its nonce, so sending the same part twice creates only one
 * message.
 * @throws ChannelError
 */
export async function sendPart(
  deps: SendDeps,
  routed: OutboundPart,
  signal: AbortSignal,
): Promise<Receipt> {
  const { chatId, threadId = chatId } = routed.route;
  if (signal.aborted) {
    throw new ChannelError(
      { kind: 'transient' },
      `Discord channel ${threadId}: stopped before sending.`,
    );
  }
  const files = await readOutboundFile(routed, threadId);
  const route = await translateFailure(threadId, () => deps.threads.open(routed.route));
  const part = { ...routed, route };
  const message = {
    part,
    body: createMessageBody(part, deps.linkPreviews),
    extras: { files, signal },
  };
  const platformMessageId = await translateFailure(
    threadId,
    async () =>
      (await trySendVoice(deps, message)) ??
      (await trySendCard(deps, message)) ??
      (await deps.streams.claim(part, (streamed) => sendOrReplace(deps, message, streamed))),
  );
  return { platformMessageId };
}

interface PreparedMessage {
  readonly part: OutboundPart;
  readonly body: MessageBody;
  readonly extras: CallOptions;
}

/**
 * The body of a message with its file. Listing the file among the attachments replaces the
 * attachments of an earlier attempt.
 */
function createMessageBody(part: OutboundPart, linkPreviews: boolean): MessageBody {
  const { file } = part;
  const attachments = file === undefined ? {} : { attachments: [{ id: 0, filename: file.name }] };
  return { ...createPartBody(part, linkPreviews), ...attachments };
}

/**
 * Sends a recording as a voice message. Returns undefined if the file is not a recording or if the
 * chat does not allow voice messages. In these cases, it is sent as a file.
 */
async function trySendVoice(
  { api, log }: SendDeps,
  { part, extras }: PreparedMessage,
): Promise<string | undefined> {
  const recording = extras.files?.at(0)?.data;
  const body = recording instanceof Uint8Array ? createVoiceBody(part, recording) : undefined;
  if (body === undefined) return undefined;
  const { chatId, threadId = chatId, replyToMessageId } = part.route;
  const origin = createOriginBody(part.idempotencyKey, replyToMessageId);
  try {
    return (await api.create(threadId, { ...body, ...origin }, extras)).id;
  } catch (thrown) {
    const failure = toCallFailure(thrown);
    if (failure.kind !== 'refused' || !NO_VOICE.has(failure.code)) throw thrown;
    log.info({ channelId: threadId, reason: failure.reason }, 'a voice message is sent as a file');
    return undefined;
  }
}

/**
 * Error codes for missing permissions, content that voice messages may not contain, and channels
 * that do not accept voice messages.
 */
const NO_VOICE: ReadonlySet<number> = new Set([50013, 50159, 50160, 50161, 50173]);

/** The error code for a message whose format Discord does not accept. */
const INVALID_FORM = 50035;

/**
 * Sends an approval request as a card. Returns undefined if the message part is not an approval
 * request or if Discord does not accept the card. In the latter case, the request is sent as text
 * with buttons, which is equally complete (M04).
 */
async function trySendCard(deps: SendDeps, message: PreparedMessage): Promise<string | undefined> {
  const body = createApprovalCard(message.part, message.body);
  if (body === undefined) return undefined;
  try {
    return await sendOrReplace(deps, { ...message, body }, {});
  } catch (thrown) {
    const failure = toCallFailure(thrown);
    if (failure.kind !== 'refused' || failure.code !== INVALID_FORM) throw thrown;
    deps.log.warn({ reason: failure.reason }, 'sending a question without its card');
    return undefined;
  }
}

/** Returns the id of the message that shows the message part. */
async function sendOrReplace(
  { api, responses, log }: SendDeps,
  { part, body, extras }: PreparedMessage,
  { messageId, text, nonce }: StreamedMessage,
): Promise<string> {
  const { chatId, threadId = chatId, replyToMessageId, response } = part.route;
  const answered = await responses.send({ part, body, extras });
  if (answered !== undefined) return answered;
  // A streamed answer that is already complete does not need a change.
  if (messageId !== undefined && text === part.body.text.trim() && isPlainTextPart(part))
    return messageId;
  const isChangeable = messageId !== undefined && !notifiesPeople(part);
  if (isChangeable && (await tryEditMessage(api, threadId, messageId, body, extras)))
    return messageId;
  // Only the first part of an answer is sent as a reply.
  const isQuoting = (part.index ?? 0) === 0 && response === undefined;
  const replyTo = isQuoting ? replyToMessageId : undefined;
  const origin = createOriginBody(nonce ?? part.idempotencyKey, replyTo);
  const sent = await api.create(threadId, { ...body, ...origin }, extras);
  // If the nonce belongs to a streamed message, Discord returns that message with its earlier text.
  if (nonce !== undefined && sent.content !== body.content)
    await api.change(threadId, sent.id, body, extras);
  if (messageId !== undefined) {
    await api.remove(threadId, messageId).catch((thrown: unknown) => {
      const facts = { channelId: threadId, reason: reasonOf(thrown) };
      log.debug(facts, 'a streamed message could not be deleted');
    });
  }
  return sent.id;
}

/** Whether the message part consists only of text. */
function isPlainTextPart(part: OutboundPart): boolean {
  return part.buttons === undefined && part.file === undefined && !notifiesPeople(part);
}

/** Whether the message part mentions people; an edit would not notify them. */
function notifiesPeople({ body, route }: OutboundPart): boolean {
  return route.target.mentions === 'live' && /<@|@everyone|@here/.test(body.text);
}

/**
 * Error codes for an unknown message, too many edits, or an archived thread. After one of these
 * errors, the text is sent as a new message.
 */
const NOT_TO_BE_CHANGED: ReadonlySet<number> = new Set([10008, 30046, 50083]);

/**
 * Changes a message so that it shows the message part; returns false if Discord does not allow
 * this.
 */
async function tryEditMessage(
  api: SendDeps['api'],
  channelId: string,
  messageId: string,
  body: MessageBody,
  extras: CallOptions,
): Promise<boolean> {
  try {
    await api.change(channelId, messageId, body, extras);
    return true;
  } catch (thrown) {
    const failure = toCallFailure(thrown);
    if (failure.kind === 'refused' && NOT_TO_BE_CHANGED.has(failure.code)) return false;
    throw thrown;
  }
}

async function readOutboundFile(
  { file }: OutboundPart,
  channelId: string,
): Promise<RawFile[] | undefined> {
  if (file === undefined) return undefined;
  try {
    const path = getOutboundFilePath(file);
    const { size } = await stat(path);
    if (size > LARGEST_FILE_BYTES) throw new Error(`the file has ${size} bytes`);
    return [{ name: file.name, data: await readFile(path), contentType: file.mimeType }];
  } catch (thrown) {
    const message = `Discord channel ${channelId}: ${file.name} cannot be sent: ${reasonOf(thrown)}.`;
    throw new ChannelError({ kind: 'refused' }, message, thrown);
  }
}

/** The maximum number of messages whose last reaction is remembered. */
const MAX_REACTIONS = 1_000;

/** Edits and deletes the bot's own messages, and reacts to other people's messages. */
export function createMessageCapability(
  api: Pick<DiscordApi, 'change' | 'react' | 'remove'>,
  linkPreviews: boolean,
): Required<MessageCapability> {
  /**
   * A bot can have one reaction for each emoji. To replace its last reaction, the adapter must know
   * the emoji.
   */
  const put = new BoundedMap<string, string>(MAX_REACTIONS);
  return {
    edit: (address, messageId, { text }) =>
      actInMessageChannel(address, messageId, async (channelId) => {
        const content = createContentBody(text, {}, linkPreviews);
        try {
          // Discord keeps the buttons below the new text unless the edit lists buttons.
          await api.change(channelId, messageId, { ...content, components: [] });
        } catch (thrown) {
          const failure = toCallFailure(thrown);
          if (failure.kind !== 'refused' || failure.code !== INVALID_FORM) throw thrown;
          // A card stays a card and does not have its own text.
          await api.change(channelId, messageId, createTextCard(content, text));
        }
      }),
    delete: (address, messageId) =>
      actInMessageChannel(address, messageId, (channelId) => api.remove(channelId, messageId)),
    react: (address, messageId, emoji) =>
      actInMessageChannel(address, messageId, async (channelId) => {
        const old = put.get(messageId);
        if (old !== undefined && old !== emoji) await api.react(channelId, messageId, old, false);
        put.delete(messageId);
        if (emoji === undefined) return;
        await api.react(channelId, messageId, emoji, true);
        put.set(messageId, emoji);
      }),
  };
}

/**
 * Error codes for an unknown channel, an unknown message, a channel without messages, and a channel
 * of another kind.
 */
const NOT_HERE: ReadonlySet<number> = new Set([10003, 10008, 50008, 50024]);

/**
 * Performs an action on a message in the channel that contains it: in the thread, or in the parent
 * channel. A message with the same id as the thread either started it and is in the parent channel,
 * or is the first message in a forum post. If no thread could be started, the answer is in the
 * channel.
 */
async function actInMessageChannel(
  { chatId, threadId }: ChatAddress,
  messageId: string,
  act: (channelId: string) => Promise<void>,
): Promise<void> {
  if (threadId === undefined) return translateFailure(chatId, () => act(chatId));
  const [first, second] = threadId === messageId ? [chatId, threadId] : [threadId, chatId];
  return translateFailure(first, async () => {
    try {
      await act(first);
    } catch (thrown) {
      const failure = toCallFailure(thrown);
      if (failure.kind !== 'refused' || !NOT_HERE.has(failure.code)) throw thrown;
      await act(second);
    }
  });
}
