import type { BinaryNode, proto, WASocket } from '@whiskeysockets/baileys';
import { notSent, type SendFailure, sendErrorOf } from './send-failure.ts';
import type { SentMessages } from './sent-messages.ts';

/** What sending needs. */
export interface TransmitDeps {
  /** The open connection; undefined while there is none. */
  readonly socket: () => WASocket | undefined;
  readonly sent: SentMessages;
  /** How long the server may take to answer, in ms. */
  readonly ackTimeoutMs: number;
}

/** A message that is ready to go. */
export interface Outgoing {
  readonly chatId: string;
  readonly messageId: string;
  readonly content: proto.IMessage;
  /** What kind of change it is: `1` an edit, `7` a deletion. */
  readonly edit?: '1' | '7';
}

/** An open connection and whose it is. @throws ChannelError while there is none. */
export function openConnection({ socket: open }: TransmitDeps, signal: AbortSignal) {
  const socket = open();
  const userJid = socket?.user?.id;
  if (socket === undefined || userJid === undefined || signal.aborted) {
    throw sendErrorOf({ kind: 'away' });
  }
  return { socket, userJid };
}

/** Sends a message and waits until WhatsApp's server confirms it. @throws ChannelError */
export async function transmit(
  deps: TransmitDeps,
  { chatId, messageId, content, edit }: Outgoing,
  signal: AbortSignal,
): Promise<void> {
  const { socket } = openConnection(deps, signal);
  const answer = new AbortController();
  const failure = serverAnswer(socket, messageId, AbortSignal.any([signal, answer.signal]));
  try {
    await deps.sent.keep(messageId, content);
    const additionalAttributes = edit === undefined ? {} : { edit };
    await socket.relayMessage(chatId, content, { messageId, additionalAttributes });
  } catch (thrown) {
    answer.abort();
    throw sendErrorOf(notSent(thrown), thrown);
  }
  const timer = setTimeout(() => answer.abort(), deps.ackTimeoutMs);
  const problem = await failure.finally(() => clearTimeout(timer));
  if (problem !== undefined) throw sendErrorOf(problem);
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
