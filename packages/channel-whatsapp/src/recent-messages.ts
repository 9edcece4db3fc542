import { BoundedMap, type InboundMessage } from '@parley/contracts';
import type { WAMessage } from '@whiskeysockets/baileys';
import type { PersonIds } from './jids.ts';

/** Messages that can be quoted, reacted to in a group, or changed by their writer; older ones cannot. */
const REMEMBERED = 1_000;
/** Characters of a text that are kept, for quotes: phones show two or three lines. */
const SHOWN = 300;

/** A message with the beginning of its text, and every name of who wrote it. */
export interface Remembered {
  readonly message: InboundMessage;
  readonly from: PersonIds;
}

/** What was said lately, in memory only. */
export class RecentMessages {
  readonly #messages = new BoundedMap<string, Remembered>(REMEMBERED);

  remember(message: InboundMessage, from: PersonIds): void {
    const kept = { ...message, text: message.text.slice(0, SHOWN) };
    this.#messages.set(keyOf(message.chat.id, message.messageId), { message: kept, from });
  }

  /** Of somebody who may not write here nothing is kept. */
  forget({ chat, messageId }: InboundMessage): void {
    this.#messages.delete(keyOf(chat.id, messageId));
  }

  find(chatId: string, messageId: string): Remembered | undefined {
    return this.#messages.get(keyOf(chatId, messageId));
  }
}

/** A message as WhatsApp wants it for a quote, which shows what the answer carries. */
export function quoteOf({ message, from }: Remembered): WAMessage {
  const participant = from.lid ?? from.pn ?? '';
  return {
    key: { remoteJid: message.chat.id, id: message.messageId, participant, fromMe: false },
    message: { conversation: message.text },
  };
}

function keyOf(chatId: string, messageId: string): string {
  return `${chatId} ${messageId}`;
}
