import type { BinaryNode } from '@whiskeysockets/baileys';
import type { DeliveryFault } from './faults.ts';
import { type ClientLink, child, children, node } from './wire.ts';

/** A stanza for the client, and the chat it belongs to. */
interface Letter {
  readonly stanza: BinaryNode;
  readonly chat: string;
}

/** The stanzas for the client, kept until it confirms them, through broken connections and restarts. */
export class Mailbox {
  #letters: Letter[] = [];
  #link: ClientLink | undefined;
  /** The client was told how much waits, and has not asked for it yet. */
  #announced: ClientLink | undefined;
  readonly #takeFault: (chat: string) => DeliveryFault | undefined;

  constructor(takeFault: (chat: string) => DeliveryFault | undefined) {
    this.#takeFault = takeFault;
  }

  /** Stanzas the client has not confirmed, oldest first. */
  get waiting(): readonly BinaryNode[] {
    return this.#letters.map(({ stanza }) => stanza);
  }

  /** Keeps a stanza, and gives it out at once when a client is there. */
  put(stanza: BinaryNode, chat: string): void {
    const letter = { stanza, chat };
    this.#letters.push(letter);
    if (this.#link !== undefined) this.#give(this.#link, letter, {});
  }

  /** Gives out a stanza that is not kept for a client that is away. */
  pass(stanza: BinaryNode): void {
    this.#link?.send(stanza);
  }

  /** The client wants its mail: first what waited, marked as such, then the rest as it comes. */
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
    link.send(node('ib', { from: 's.whatsapp.net' }, [node('offline_preview', preview)]));
  }

  /** Whether the client has had what waited, and gets what comes. */
  isOpenTo(link: ClientLink): boolean {
    return this.#link === link;
  }

  /** The client asks for what was announced. */
  giveWaiting(link: ClientLink): void {
    if (this.#announced !== link) return;
    this.#announced = undefined;
    const waiting = [...this.#letters];
    for (const [nth, letter] of waiting.entries()) this.#give(link, letter, { offline: nth });
    this.#settle(link, waiting.length);
  }

  /** The client is gone; what it has not confirmed stays. */
  closed(link: ClientLink): void {
    if (this.#link === link) this.#link = undefined;
    if (this.#announced === link) this.#announced = undefined;
  }

  /** Another client takes over: nothing of the old one is for it. */
  empty(): void {
    this.#letters = [];
  }

  /** Takes out what an `ack` or a `receipt` of the client confirms: of equal ones, the oldest. */
  confirm(answer: BinaryNode): void {
    const { attrs } = answer;
    const listed = children(child(answer, 'list'), 'item').map((item) => item.attrs.id);
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
    link.send(node('ib', { from: 's.whatsapp.net' }, [node('offline', { count })]));
  }

  #give(link: ClientLink, { stanza, chat }: Letter, extra: { readonly offline?: number }): void {
    const marked = node(stanza.tag, { ...stanza.attrs, ...extra }, stanza.content);
    const fault = this.#takeFault(chat);
    if (fault?.kind === 'cut') link.sendHalf(marked);
    else if (fault?.kind === 'drop-after') link.sendLast(marked);
    else link.send(marked);
    if (fault?.kind === 'twice') link.send(marked);
  }
}
