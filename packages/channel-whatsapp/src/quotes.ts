import type { ChannelContext } from '@parley/channels';
import { BoundedMap, type InboundMessage } from '@parley/core';
import type { WAMessage } from '@whiskeysockets/baileys';
import { type Groups, isGroup, isPerson, type PersonIds, personIds } from './people.ts';

/** Messages that can be changed by their sender; older ones cannot. */
const REMEMBERED = 1_000;
/** Characters of a text kept for quotes: phones show two or three lines. */
const SHOWN = 300;

/** A message with the start of its text, and all ids of its sender. */
interface Remembered {
  readonly message: InboundMessage;
  readonly from: PersonIds;
}

/** The latest messages, in memory only. */
export class RecentMessages {
  readonly #messages = new BoundedMap<string, Remembered>(REMEMBERED);

  /**
   * False for a message that has the id of someone else's: the sender's app chooses it, and members of a group see the
   * ids of others. Nothing of the earlier one changes.
   */
  remember(message: InboundMessage, from: PersonIds): boolean {
    const key = quoteKey(message.chat.id, message.messageId);
    const before = this.#messages.get(key)?.from;
    if (before !== undefined && !isPerson(from.lid, before) && !isPerson(from.pn, before)) {
      return false;
    }
    const kept = { ...message, text: message.text.slice(0, SHOWN) };
    this.#messages.set(key, { message: kept, from });
    return true;
  }

  /** The text of a refused sender is not kept. */
  forget({ chat, messageId }: InboundMessage): void {
    this.#messages.delete(quoteKey(chat.id, messageId));
  }

  find(chatId: string, messageId: string): Remembered | undefined {
    return this.#messages.get(quoteKey(chatId, messageId));
  }
}

function quoteKey(chatId: string, messageId: string): string {
  return `${chatId} ${messageId}`;
}

export interface QuoteDeps {
  readonly recent: Pick<RecentMessages, 'find'>;
  readonly groups: Pick<Groups, 'find'>;
  /** Messages from before this process started. */
  readonly message: ChannelContext<unknown>['message'];
}

/** A chat by the core's id and by the address under which it is answered. */
export interface AddressedChat {
  readonly chatId: string;
  readonly address: string;
}

/**
 * A message in WhatsApp's form, for a quote, which shows the text that the answer carries, or a reaction; in a group
 * its key has the writer. Undefined: it is not known any more.
 */
export async function findMessage(
  deps: QuoteDeps,
  { chatId, address: remoteJid }: AddressedChat,
  id: string,
): Promise<Required<Pick<WAMessage, 'key' | 'message'>> | undefined> {
  const recent = deps.recent.find(chatId, id);
  if (recent !== undefined) {
    const participant = recent.from.lid ?? recent.from.pn ?? '';
    const key = { remoteJid, id, participant, fromMe: false };
    return { key, message: { conversation: recent.message.text } };
  }
  // An answer without its quote is better than none.
  const stored = await deps.message(chatId, id).catch(() => null);
  if (stored === null) return undefined;
  const key =
    stored.by === 'agent'
      ? { remoteJid, id, fromMe: true }
      : { remoteJid, id, ...(await writerIn(deps, remoteJid, stored.senderId)), fromMe: false };
  return { key, message: { conversation: stored.text.slice(0, SHOWN) } };
}

/** Whether a stored message is one of these ids' person; a message that is not stored can be anyone's. */
export async function isStoredFor(
  { message }: Pick<QuoteDeps, 'message'>,
  chatId: string,
  id: string,
  person: PersonIds,
): Promise<boolean> {
  const stored = await message(chatId, id);
  if (stored === null) return true;
  return stored.by === 'person' && isPerson(jidOf(stored.senderId), person);
}

/** The opposite of `publicId`. */
function jidOf(senderId: string): string {
  return senderId.includes('@') ? senderId : `${senderId}@s.whatsapp.net`;
}

/** A group names its members by one of their two ids; who has left it is named as the core does. */
async function writerIn(
  { groups }: QuoteDeps,
  chat: string,
  senderId: string,
): Promise<{ readonly participant: string }> {
  const jid = jidOf(senderId);
  if (!isGroup(chat)) return { participant: jid };
  const group = await groups.find(chat).catch(() => undefined);
  const member = group?.participants.find(({ id, lid, phoneNumber }) =>
    isPerson(jid, personIds(id, lid, phoneNumber)),
  );
  return { participant: member?.id ?? jid };
}
