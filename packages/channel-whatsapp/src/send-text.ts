import type { OutboundPart, Receipt } from '@parley/contracts';
import {
  type BinaryNode,
  generateWAMessageFromContent,
  type WASocket,
} from '@whiskeysockets/baileys';
import { isGroup } from './jids.ts';
import type { Quotes } from './quotes.ts';
import { notSent, type SendFailure, sendErrorOf } from './send-failure.ts';
import { messageIdOf, type SentMessages } from './sent-messages.ts';

/** What sending needs. */
export interface SendDeps {
  /** The open connection; undefined while there is none. */
  readonly socket: () => WASocket | undefined;
  readonly sent: SentMessages;
  readonly quotes: Quotes;
  /** How long the server may take to answer, in ms. */
  readonly ackTimeoutMs: number;
}

/**
 * Sends one part and waits until WhatsApp's server confirms it. The id comes from the part's key, so
 * that a part sent again shows once. Previews of links are never made: that would fetch addresses
 * from here. Throws only `ChannelError`.
 */
export async function sendText(
  { socket: open, sent, quotes, ackTimeoutMs }: SendDeps,
  part: OutboundPart,
  signal: AbortSignal,
): Promise<Receipt> {
  const socket = open();
  const userJid = socket?.user?.id;
  if (socket === undefined || userJid === undefined || signal.aborted) {
    throw sendErrorOf({ kind: 'not-sent', reason: 'not connected' });
  }
  const { chatId, replyToMessageId } = part.route;
  const messageId = messageIdOf(part.idempotencyKey);
  const quoted = isGroup(chatId) ? quotes.find(chatId, replyToMessageId) : undefined;
  const { message } = generateWAMessageFromContent(
    chatId,
    { extendedTextMessage: { text: part.body.text } },
    { userJid, messageId, ...(quoted === undefined ? {} : { quoted }) },
  );
  const answer = new AbortController();
  const failure = serverAnswer(socket, messageId, AbortSignal.any([signal, answer.signal]));
  try {
    await sent.keep(messageId, message ?? {});
    await socket.relayMessage(chatId, message ?? {}, { messageId });
  } catch (thrown) {
    answer.abort();
    throw sendErrorOf(notSent(thrown), thrown);
  }
  const timer = setTimeout(() => answer.abort(), ackTimeoutMs);
  const problem = await failure.finally(() => clearTimeout(timer));
  if (problem !== undefined) throw sendErrorOf(problem);
  return { platformMessageId: messageId };
}

/** Baileys has no event for the server's answer; only the bare wire has it. */
function serverAnswer(
  { ws, ev }: WASocket,
  id: string,
  signal: AbortSignal,
): Promise<SendFailure | undefined> {
  const ACK = 'CB:ack,class:message';
  return new Promise((resolve) => {
    const end = (failure: SendFailure | undefined) => {
      ws.off(ACK, onAck);
      ev.off('connection.update', onUpdate);
      signal.removeEventListener('abort', onAbort);
      resolve(failure);
    };
    const onAck = ({ attrs }: BinaryNode) => {
      if (attrs.id !== id) return;
      end(attrs.error === undefined ? undefined : { kind: 'refused', code: Number(attrs.error) });
    };
    const onUpdate = ({ connection }: { readonly connection?: string }) => {
      if (connection === 'close') end({ kind: 'unanswered', reason: 'the connection broke' });
    };
    const onAbort = () => end({ kind: 'unanswered', reason: 'no answer in time' });
    ws.on(ACK, onAck);
    ev.on('connection.update', onUpdate);
    signal.addEventListener('abort', onAbort);
  });
}
