import { readFile, stat } from 'node:fs/promises';
import {
  ChannelError,
  type Logger,
  type OutboundPart,
  type Receipt,
  reasonOf,
} from '@parley/contracts';
import type { RawFile } from 'discord.js';
import { callFailureOf } from './call-failure.ts';
import type { CallExtras, DiscordApi, MessageBody } from './discord-api.ts';
import { originBody, partBody } from './message-body.ts';
import { sendErrorOf } from './send-failure.ts';
import type { Streamed, Streams } from './streams.ts';

/** What sending needs. */
export interface SendDeps {
  readonly api: Pick<DiscordApi, 'create' | 'change' | 'remove'>;
  readonly streams: Pick<Streams, 'claim'>;
  readonly linkPreviews: boolean;
  readonly log: Logger;
}

/** Servers with the most boosts take 100 MiB; whether this one does, Discord says. */
const LARGEST_FILE_BYTES = 100 * 1024 * 1024;

/**
 * Sends one part: by changing the message that was streamed at its place, if there is one, else as a
 * new message. Discord knows a new one again by its nonce, so the same part twice is one message.
 * Throws only `ChannelError`.
 */
export async function sendPart(
  deps: SendDeps,
  part: OutboundPart,
  signal: AbortSignal,
): Promise<Receipt> {
  const { chatId, threadId = chatId } = part.route;
  if (signal.aborted) {
    throw new ChannelError(
      { kind: 'transient' },
      `Discord channel ${threadId}: stopped before sending.`,
    );
  }
  const files = await filesOf(part, threadId);
  const message = { part, body: bodyOf(part, deps.linkPreviews), extras: { files, signal } };
  try {
    const platformMessageId = await deps.streams.claim(part, (streamed) =>
      put(deps, message, streamed),
    );
    return { platformMessageId };
  } catch (thrown) {
    if (thrown instanceof ChannelError) throw thrown;
    throw sendErrorOf(callFailureOf(thrown), threadId, thrown);
  }
}

interface Message {
  readonly part: OutboundPart;
  readonly body: MessageBody;
  readonly extras: CallExtras;
}

/** Naming the file among the attachments replaces those that an earlier attempt put there. */
function bodyOf(part: OutboundPart, linkPreviews: boolean): MessageBody {
  const { file } = part;
  const attachments = file === undefined ? {} : { attachments: [{ id: 0, filename: file.name }] };
  return { ...partBody(part, linkPreviews), ...attachments };
}

/** Gives back the id of the message that now is the part. */
async function put(
  { api, log }: SendDeps,
  { part, body, extras }: Message,
  { messageId, nonce }: Streamed,
): Promise<string> {
  const { chatId, threadId = chatId, replyToMessageId } = part.route;
  const mayBecome = messageId !== undefined && !notifies(part);
  if (mayBecome && (await becomes(api, threadId, messageId, body, extras))) return messageId;
  // The first part quotes the question; the others follow it.
  const replyTo = (part.index ?? 0) === 0 ? replyToMessageId : undefined;
  const origin = originBody(nonce ?? part.idempotencyKey, replyTo);
  const sent = await api.create(threadId, { ...body, ...origin }, extras);
  // With the nonce of a streamed message Discord gives back that one, as it was then.
  if (nonce !== undefined && sent.content !== body.content)
    await api.change(threadId, sent.id, body, extras);
  if (messageId !== undefined) await removeDraft(api, threadId, messageId, log);
  return sent.id;
}

/** Whether it is to make somebody's phone ring, which a change of a message does not. */
function notifies({ body, route }: OutboundPart): boolean {
  return route.target.mentions === 'live' && /<@|@everyone|@here/.test(body.text);
}

async function removeDraft(
  api: SendDeps['api'],
  channelId: string,
  messageId: string,
  log: Logger,
): Promise<void> {
  try {
    await api.remove(channelId, messageId);
  } catch (thrown) {
    log.debug({ channelId, reason: reasonOf(thrown) }, 'draft not removed');
  }
}

/** Unknown message, too many edits, an archived thread: then the words go out as a message of their own. */
const NOT_TO_BE_CHANGED: ReadonlySet<number> = new Set([10008, 30046, 50083]);

/** Whether a message could be changed into the part. */
async function becomes(
  api: SendDeps['api'],
  channelId: string,
  messageId: string,
  body: MessageBody,
  extras: CallExtras,
): Promise<boolean> {
  try {
    await api.change(channelId, messageId, body, extras);
    return true;
  } catch (thrown) {
    const failure = callFailureOf(thrown);
    if (failure.kind === 'refused' && NOT_TO_BE_CHANGED.has(failure.code)) return false;
    throw thrown;
  }
}

async function filesOf({ file }: OutboundPart, channelId: string): Promise<RawFile[] | undefined> {
  if (file === undefined) return undefined;
  try {
    const { size } = await stat(file.path);
    if (size > LARGEST_FILE_BYTES) throw new Error(`it has ${size} bytes`);
    return [{ name: file.name, data: await readFile(file.path), contentType: file.mimeType }];
  } catch (thrown) {
    const words = `Discord channel ${channelId}: ${file.name} cannot be sent: ${reasonOf(thrown)}.`;
    throw new ChannelError({ kind: 'refused' }, words, thrown);
  }
}
