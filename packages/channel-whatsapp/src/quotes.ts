import type { ChannelContext } from '@parley/channels';
import { BoundedMap, type InboundMessage } from '@parley/core';
import type { WAMessage } from '@whiskeysockets/baileys';
import { type GroupCache, isGroup, isPerson, type PersonIds, toPersonIds } from './people.ts';

/**
 * The number of messages in memory. Messages older than these can no longer be edited by their
 * senders.
 */
const REMEMBERED = 1_000;
/** How many characters of a text are kept for quotes; phones show two or three lines. */
const SHOWN = 300;

/** A message with the beginning of its text, and all ids of its sender. */
interface CachedMessage {
  readonly message: InboundMessage;
  readonly from: PersonIds;
}

/** The latest messages, held only in memory. */
export class RecentMessageCache {
  readonly #messages = new BoundedMap<string, CachedMessage>(REMEMBERED);

  /**
   * Stores a message, or returns false if it has the id of another person's message. The sender's
   * app chooses the id, and group members see the ids of other members' messages.
   */
  remember(message: InboundMessage, from: PersonIds): boolean {
    const key = createQuoteKey(message.chat.id, message.messageId);
    const before = this.#messages.get(key)?.from;
    if (before !== undefined && !isPerson(from.lid, before) && !isPerson(from.pn, before)) {
      return false;
    }
    const kept = { ...message, text: message.text.slice(0, SHOWN) };
    this.#messages.set(key, { message: kept, from });
    return true;
  }

  /** Drops a message, so that a refused sender's text is not kept. */
  forget({ chat, messageId }: InboundMessage): void {
    this.#messages.delete(createQuoteKey(chat.id, messageId));
  }

  find(chatId: string, messageId: string): CachedMessage | undefined {
    return this.#messages.get(createQuoteKey(chatId, messageId));
  }
}

function createQuoteKey(chatId: string, messageId: string): string {
  return `${chatId} ${messageId}`;
}

export interface QuoteDeps {
  readonly recent: Pick<RecentMessageCache, 'find'>;
  readonly groups: Pick<GroupCache, 'find'>;
  /** Looks up messages that were received before this process started. */
  readonly message: ChannelContext<unknown>['message'];
}

/** A chat: the core's id for it, and the address to which answers are sent. */
export interface AddressedChat {
  readonly chatId: string;
  readonly address: string;
}

/**
 * Builds a message in WhatsApp's format, for a reaction or for a quote. With a quote, the answer
 * contains the message's text. In a group, the message key contains the author. Returns undefined
 * if the message is no longer known; the answer is then sent without a quote.
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
  const stored = await deps.message(chatId, id).catch(() => null);
  if (stored === null) return undefined;
  const key =
    stored.by === 'agent'
      ? { remoteJid, id, fromMe: true }
      : {
          remoteJid,
          id,
          ...(await findGroupAuthor(deps, remoteJid, stored.senderId)),
          fromMe: false,
        };
  return { key, message: { conversation: stored.text.slice(0, SHOWN) } };
}

/**
 * Whether a stored message was sent by a person with one of these ids; true if the message is not
 * stored.
 */
export async function isMessageFromPerson(
  { message }: Pick<QuoteDeps, 'message'>,
  chatId: string,
  id: string,
  person: PersonIds,
): Promise<boolean> {
  const stored = await message(chatId, id);
  if (stored === null) return true;
  return stored.by === 'person' && isPerson(toJid(stored.senderId), person);
}

/** The inverse of `toPublicId`. */
function toJid(senderId: string): string {
  return senderId.includes('@') ? senderId : `${senderId}@s.whatsapp.net`;
}

/**
 * The author in a group, which knows its members by one of their two ids. If the person has left
 * the group, the core's id is used.
 */
async function findGroupAuthor(
  { groups }: QuoteDeps,
  chat: string,
  senderId: string,
): Promise<{ readonly participant: string }> {
  const jid = toJid(senderId);
  if (!isGroup(chat)) return { participant: jid };
  const group = await groups.find(chat).catch(() => undefined);
  const member = group?.participants.find(({ id, lid, phoneNumber }) =>
    isPerson(jid, toPersonIds(id, lid, phoneNumber)),
  );
  return { participant: member?.id ?? jid };
}
