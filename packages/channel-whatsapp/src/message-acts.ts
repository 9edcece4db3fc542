import type { MessageFacet } from '@parley/channels';
import { ChannelError, type Clock } from '@parley/contracts';
import { generateMessageIDV2, proto } from '@whiskeysockets/baileys';
import { isGroup } from './jids.ts';
import type { RecentMessages } from './recent-messages.ts';
import { type Outgoing, type TransmitDeps, transmit } from './transmit.ts';

/** What changing messages needs. */
export interface MessageActsDeps extends TransmitDeps {
  readonly recent: Pick<RecentMessages, 'find'>;
  readonly clock: Clock;
  /** Ends what is under way when the account stops. */
  readonly signal: AbortSignal;
}

const { REVOKE, MESSAGE_EDIT } = proto.Message.ProtocolMessage.Type;

/**
 * Edits and deletes what the account wrote, and reacts to anything lately. Each is a message of its own
 * to WhatsApp, with a fresh id: the same edit may be made twice. Phones ignore edits after 15 minutes
 * and deletions after two days, and do not say so.
 */
export function messageActs(deps: MessageActsDeps): Required<MessageFacet> {
  const send = (chatId: string, change: Pick<Outgoing, 'content' | 'edit'>) =>
    transmit(deps, { chatId, messageId: generateMessageIDV2(), ...change }, deps.signal);
  const own = (remoteJid: string, id: string) => ({ remoteJid, id, fromMe: true });
  return {
    async edit({ chatId }, messageId, { text }) {
      const protocolMessage = {
        key: own(chatId, messageId),
        type: MESSAGE_EDIT,
        editedMessage: { extendedTextMessage: { text } },
        timestampMs: deps.clock(),
      };
      await send(chatId, { content: { protocolMessage }, edit: '1' });
    },
    async delete({ chatId }, messageId) {
      const protocolMessage = { key: own(chatId, messageId), type: REVOKE };
      await send(chatId, { content: { protocolMessage }, edit: '7' });
    },
    async react({ chatId }, messageId, emoji = '') {
      const key = await keyOf(deps, chatId, messageId);
      const reactionMessage = { key, text: emoji, senderTimestampMs: deps.clock() };
      await send(chatId, { content: { reactionMessage } });
    },
  };
}

/** A message in a group is found by its writer, too. */
async function keyOf(
  { recent, sent }: MessageActsDeps,
  chatId: string,
  id: string,
): Promise<proto.IMessageKey> {
  const key = { remoteJid: chatId, id };
  if ((await sent.find(id)) !== undefined) return { ...key, fromMe: true };
  if (!isGroup(chatId)) return { ...key, fromMe: false };
  const writer = recent.find(chatId, id)?.from;
  const participant = writer?.lid ?? writer?.pn;
  if (participant !== undefined) return { ...key, fromMe: false, participant };
  const words = 'This message of a group is from too long ago to react to it.';
  throw new ChannelError({ kind: 'refused' }, words);
}
