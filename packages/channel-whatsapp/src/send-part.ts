import type { OutboundPart, Receipt } from '@parley/contracts';
import { generateWAMessageFromContent, type proto, type WAMessage } from '@whiskeysockets/baileys';
import type { Groups } from './groups.ts';
import { isGroup } from './jids.ts';
import { canBeCaption, fileMessage } from './outgoing-file.ts';
import { mentionedIn } from './outgoing-mentions.ts';
import { quoteOf, type RecentMessages } from './recent-messages.ts';
import { messageIdOf } from './sent-messages.ts';
import { openConnection, type TransmitDeps, transmit } from './transmit.ts';

/** What sending parts needs. */
export interface SendDeps extends TransmitDeps {
  readonly recent: Pick<RecentMessages, 'find'>;
  readonly groups: Pick<Groups, 'find'>;
  /** Types for a while, as a person would; resolves when the message may go. */
  readonly pause: (chatId: string, characters: number, signal: AbortSignal) => Promise<void>;
}

/**
 * Sends one part and waits until WhatsApp's server confirms it. The id comes from the part's key, so
 * that a part sent again shows once. Previews of links are never made: that would fetch addresses
 * from here. Throws only `ChannelError`.
 */
export async function sendPart(
  deps: SendDeps,
  part: OutboundPart,
  signal: AbortSignal,
): Promise<Receipt> {
  const { socket } = openConnection(deps, signal);
  const { text } = part.body;
  const messageId = messageIdOf(part.idempotencyKey);
  await deps.pause(part.route.chatId, text.length, signal);
  if (part.file === undefined) {
    await sendContent(deps, { part, messageId, content: await textMessage(deps, part) }, signal);
    return { platformMessageId: messageId };
  }
  const isCaption = canBeCaption(part.file, text);
  if (!isCaption && text !== '') {
    const first = { part, messageId: messageIdOf(`${part.idempotencyKey} text`) };
    await sendContent(deps, { ...first, content: await textMessage(deps, part) }, signal);
  }
  const caption = isCaption ? text : '';
  const content = await fileMessage(part.file, caption, { upload: socket.waUploadToServer });
  await sendContent(deps, { part, messageId, content }, signal);
  return { platformMessageId: messageId };
}

interface Piece {
  readonly part: OutboundPart;
  readonly messageId: string;
  readonly content: proto.IMessage;
}

async function sendContent(
  deps: SendDeps,
  { part, messageId, content }: Piece,
  signal: AbortSignal,
): Promise<void> {
  const { userJid } = openConnection(deps, signal);
  const { chatId } = part.route;
  const quoted = quotedBy(deps, part);
  const { message } = generateWAMessageFromContent(chatId, content, {
    userJid,
    messageId,
    ...(quoted === undefined ? {} : { quoted }),
  });
  await transmit(deps, { chatId, messageId, content: message ?? {} }, signal);
}

/** Where the settings allow it, people of a group who are named are notified (M05). */
async function textMessage(
  { groups }: SendDeps,
  { body: { text }, route }: OutboundPart,
): Promise<proto.IMessage> {
  const isLive = route.target.mentions === 'live' && isGroup(route.chatId);
  const group = isLive ? await groups.find(route.chatId).catch(() => undefined) : undefined;
  const mentionedJid = group === undefined ? [] : mentionedIn(text, group);
  if (mentionedJid.length === 0) return { extendedTextMessage: { text } };
  return { extendedTextMessage: { text, contextInfo: { mentionedJid } } };
}

/** In direct chats the route names a message only where the agent has chosen one (G10). */
function quotedBy({ recent }: SendDeps, { route }: OutboundPart): WAMessage | undefined {
  const { chatId, replyToMessageId } = route;
  if (replyToMessageId === undefined) return undefined;
  const found = recent.find(chatId, replyToMessageId);
  return found && quoteOf(found);
}
