import type { BinaryNode } from '@whiskeysockets/baileys';
import type { DeliveryFault } from './faults.ts';
import { buildNode, type ClientLink, findChild, listChildren } from './wire.ts';

interface QueuedStanza {
  readonly stanza: BinaryNode;
  readonly chat: string;
}

/**
 * The stanzas for the client, kept across lost connections and restarts until the client confirms
 * them.
 */
export class Mailbox {
  #letters: QueuedStanza[] = [];
  #link: ClientLink | undefined;
  /**
   * The connection that was notified of the number of waiting stanzas but has not requested them
   * yet.
   */
  #announced: ClientLink | undefined;
  readonly #takeFault: (chat: string) => DeliveryFault | undefined;

  constructor(takeFault: (chat: string) => DeliveryFault | undefined) {
    this.#takeFault = takeFault;
  }

  /** The unconfirmed stanzas, oldest first. */
  get waiting(): readonly BinaryNode[] {
    return this.#letters.map(({ stanza }) => stanza);
  }

  /** Stores a stanza and delivers it immediately if a client is connected. */
  put(stanza: BinaryNode, chat: string): void {
    const letter = { stanza, chat };
    this.#letters.push(letter);
    if (this.#link !== undefined) this.#give(this.#link, letter, {});
  }

  /** Delivers a stanza that is dropped when no client is connected. */
  pass(stanza: BinaryNode): void {
    this.#link?.send(stanza);
  }

  /**
   * Starts delivery to a client: first the waiting stanzas, marked as offline, then new stanzas as
   * they arrive.
   */
  open(link: ClientLink): void {
    if (this.#link === link) return;
    if (this.#letters.length === 0) {
      this.#settle(link, 0);
      return;
    }
    this.#announced = link;
    const count = (tag: string) => this.waiting.filter((stanza) => stanza.tag === tag).length;
    const preview = {
      count: this.#letters.length,
      message: count('message'),
      receipt: count('receipt'),
      notification: count('notification'),
      appdata: 0,
      call: count('call'),
    };
    link.send(buildNode('ib', { from: 's.whatsapp.net' }, [buildNode('offline_preview', preview)]));
  }

  /** Whether the client has received the waiting stanzas and now receives new ones. */
  isOpenTo(link: ClientLink): boolean {
    return this.#link === link;
  }

  /** Delivers the announced stanzas when the client requests them. */
  giveWaiting(link: ClientLink): void {
    if (this.#announced !== link) return;
    this.#announced = undefined;
    const waiting = [...this.#letters];
    for (const [nth, letter] of waiting.entries()) this.#give(link, letter, { offline: nth });
    this.#settle(link, waiting.length);
  }

  /** Handles the disconnection of the client; unconfirmed stanzas are kept. */
  closed(link: ClientLink): void {
    if (this.#link === link) this.#link = undefined;
    if (this.#announced === link) this.#announced = undefined;
  }

  /** Discards all stanzas because another client has been linked. */
  empty(): void {
    this.#letters = [];
  }

  /**
   * Removes the stanza that an `ack` or `receipt` of the client confirms; if several match, the
   * oldest one.
   */
  confirm(answer: BinaryNode): void {
    const { attrs } = answer;
    const listed = listChildren(findChild(answer, 'list'), 'item').map((item) => item.attrs.id);
    const tag = answer.tag === 'receipt' ? 'message' : attrs.class;
    for (const id of [attrs.id, ...listed]) {
      const place = this.#letters.findIndex(
        ({ stanza }) =>
          stanza.tag === tag &&
          stanza.attrs.id === id &&
          (tag !== 'receipt' || stanza.attrs.type === attrs.type),
      );
      if (place !== -1) this.#letters.splice(place, 1);
    }
  }

  #settle(link: ClientLink, count: number): void {
    this.#link = link;
    link.send(buildNode('ib', { from: 's.whatsapp.net' }, [buildNode('offline', { count })]));
  }

  #give(
    link: ClientLink,
    { stanza, chat }: QueuedStanza,
    extra: { readonly offline?: number },
  ): void {
    const marked = buildNode(stanza.tag, { ...stanza.attrs, ...extra }, stanza.content);
    const fault = this.#takeFault(chat);
    if (fault?.kind === 'cut') link.sendHalf(marked);
    else if (fault?.kind === 'drop-after') link.sendLast(marked);
    else link.send(marked);
    if (fault?.kind === 'twice') link.send(marked);
  }
}
