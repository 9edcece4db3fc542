import type { InboundMessage } from '@parley/contracts';
import type { WAMessage } from '@whiskeysockets/baileys';
import { isGroup, type PersonIds } from './jids.ts';

/** Messages of groups that an answer may quote; older ones are answered without a quote. */
const REMEMBERED = 1_000;
/** Characters of the quoted text that go along; phones show two or three lines. */
const SHOWN = 300;

/** What was said in groups lately, in memory only: WhatsApp shows a quote from what the answer carries. */
export class Quotes {
  readonly #messages = new Map<string, WAMessage>();

  remember({ chat, messageId, text }: InboundMessage, from: PersonIds): void {
    if (!isGroup(chat.id)) return;
    const participant = from.lid ?? from.pn ?? '';
    const key = { remoteJid: chat.id, id: messageId, participant, fromMe: false };
    this.#messages.set(`${chat.id} ${messageId}`, {
      key,
      message: { conversation: text.slice(0, SHOWN) },
    });
    const [oldest] = this.#messages.keys();
    if (this.#messages.size > REMEMBERED && oldest !== undefined) this.#messages.delete(oldest);
  }

  /** Of somebody who may not write here nothing is kept. */
  forget({ chat, messageId }: InboundMessage): void {
    this.#messages.delete(`${chat.id} ${messageId}`);
  }

  find(chatId: string, messageId: string | undefined): WAMessage | undefined {
    return messageId === undefined ? undefined : this.#messages.get(`${chatId} ${messageId}`);
  }
}
