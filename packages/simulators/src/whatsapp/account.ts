import { randomBytes } from 'node:crypto';
import { jidDecode, jidEncode, jidNormalizedUser } from '@whiskeysockets/baileys';
import type { FaultInjector } from './faults.ts';
import type { Group, GroupStore } from './groups.ts';
import type { Mailbox } from './mailbox.ts';
import type { PeopleStore, Person } from './people.ts';
import type { KeyBundle, NumberedKey } from './signal.ts';
import type { Transcript } from './transcript.ts';

/** The state of the double, including the bot's account, the people and their messages. */
export interface SimulatedAccount {
  /** The person whose account the bot is linked to; the person's phone is device 0. */
  readonly me: Person & { readonly pn: string };
  readonly people: PeopleStore;
  readonly groups: GroupStore;
  readonly mailbox: Mailbox;
  readonly transcript: Transcript;
  readonly faults: FaultInjector;
  /** The `host:port` of the media host. */
  readonly mediaHost: string;
  /** The double's clock, which returns the time in ms since 1970. */
  readonly clock: () => number;
  /** The timers of disappearing messages, by chat. */
  readonly timers: Map<string, DisappearingTimer>;
  /** The linked client, whether connected or not. */
  companion: Companion | undefined;
}

/** The retention period of the messages in a chat. */
export interface DisappearingTimer {
  /** The period in seconds; 0 keeps messages until someone deletes them. */
  readonly seconds: number;
  /** The time when the timer was set, in seconds since 1970. */
  readonly setAt: number;
}

export type Chat =
  | { readonly kind: 'direct'; readonly id: string; readonly person: Person }
  | { readonly kind: 'group'; readonly id: string; readonly group: Group }
  /** A person's status or broadcast list. */
  | { readonly kind: 'broadcast'; readonly id: string }
  /** A channel that the account follows; its messages are not encrypted. */
  | { readonly kind: 'newsletter'; readonly id: string };

/** @throws Error if no person has this JID */
export function getChat(account: SimulatedAccount, jid: string): Chat {
  if (jid.endsWith('@broadcast')) return { kind: 'broadcast', id: jid };
  if (jid.endsWith('@newsletter')) return { kind: 'newsletter', id: jid };
  if (jid.endsWith('@g.us')) return { kind: 'group', id: jid, group: account.groups.get(jid) };
  const person = account.people.get(jid);
  return { kind: 'direct', id: person.id, person };
}

/** Like `chatOf`, but returns undefined for an unknown JID. */
export function findChat(account: SimulatedAccount, jid: string): Chat | undefined {
  const isKnown = account.groups.find(jid) !== undefined || account.people.find(jid) !== undefined;
  return isKnown ? getChat(account, jid) : undefined;
}

/** @throws Error while no client is linked, because no message can be delivered */
export function requireCompanion(account: SimulatedAccount): Companion {
  if (account.companion === undefined)
    throw new Error('No client is linked. Scan its QR code first');
  return account.companion;
}

/** Returns the double's time in seconds, as used in stanzas. */
export function getTimeInSeconds(account: SimulatedAccount): number {
  return Math.floor(account.clock() / 1000);
}

/** The attributes of a stanza; attributes without a value are omitted. */
export type Attributes = Readonly<Record<string, string | number | undefined>>;

/**
 * Returns the sender attributes of a message, including the person's other identity if the bot may
 * know it.
 */
export function getMessageRoute(chat: Chat, person: Person): Attributes {
  if (chat.kind === 'newsletter')
    return { from: chat.id, server_id: randomBytes(2).readUInt16BE() };
  if (chat.kind === 'broadcast') return { from: chat.id, participant: getDirectJid(person) };
  if (chat.kind === 'group') {
    const { lid, pn } = person;
    return { from: chat.id, participant: lid, participant_pn: pn, addressing_mode: 'lid' };
  }
  const from = getDirectJid(person);
  if (from === person.lid) return { from, sender_pn: person.pn, addressing_mode: 'lid' };
  return { from, sender_lid: person.lid, addressing_mode: 'pn' };
}

/**
 * Returns the sender attributes of a receipt or typing state.
 * @param address the address that the bot wrote to, from which a phone answers in a direct chat
 */
export function getReceiptRoute(chat: Chat, person: Person, address?: string): Attributes {
  if (chat.kind !== 'direct') return { from: chat.id, participant: person.lid };
  return { from: address === undefined ? getDirectJid(person) : jidNormalizedUser(address) };
}

/**
 * Returns the JID that identifies a person in a chat, for example in mentions; direct chats may use
 * phone numbers.
 */
export function getNameInChat(chat: Chat, person: Person): string {
  if (chat.kind !== 'direct') return person.lid;
  return chat.person.addressing === 'pn' ? (person.pn ?? person.lid) : person.lid;
}

/** Generates an id in the format of phones: 32 hexadecimal digits. */
export function createMessageId(): string {
  return randomBytes(16).toString('hex').toUpperCase();
}

/** Returns a person's JID in a direct chat with the bot. */
export function getDirectJid(person: Person): string {
  return person.addressing === 'pn' ? (person.pn ?? person.lid) : person.lid;
}

/** The servers' record of the client that is linked to the bot's account. */
export class Companion {
  /** The client's JID including the device, for example `491…:1@s.whatsapp.net`. */
  readonly pn: string;
  readonly lid: string;
  readonly device: number;
  /** The Noise key with which the client authenticates. */
  readonly noiseKey: Uint8Array;
  /** Whether the client has never logged in; the first login receives history from the phone. */
  isNew = true;
  #keys: KeyBundle | undefined;
  #oneTime: NumberedKey[] = [];
  readonly #published = Promise.withResolvers<void>();

  constructor(
    me: { readonly pn: string; readonly lid: string },
    device: number,
    noiseKey: Uint8Array,
  ) {
    this.pn = addDevice(me.pn, device);
    this.lid = addDevice(me.lid, device);
    this.device = device;
    this.noiseKey = noiseKey;
  }

  /** Resolves once the client has published keys; messages to a new client wait for the keys. */
  get published(): Promise<void> {
    return this.#published.promise;
  }

  /** The number of unused one-time keys. */
  get keysLeft(): number {
    return this.#oneTime.length;
  }

  publish(keys: KeyBundle, oneTime: readonly NumberedKey[]): void {
    this.#keys = keys;
    this.#oneTime.push(...oneTime);
    this.#published.resolve();
  }

  rotate(signed: KeyBundle['signed']): void {
    if (this.#keys !== undefined) this.#keys = { ...this.#keys, signed };
  }

  /**
   * Takes the keys for a new session; each one-time key is used once.
   * @throws Error before the client has published keys
   */
  take(): KeyBundle {
    if (this.#keys === undefined) throw new Error('The client has not published its keys yet');
    const oneTime = this.#oneTime.shift();
    return oneTime === undefined ? this.#keys : { ...this.#keys, oneTime };
  }
}

function addDevice(jid: string, device: number): string {
  const decoded = jidDecode(jid);
  if (decoded === undefined) throw new Error(`Not a JID: ${jid}`);
  return jidEncode(decoded.user, decoded.server, device);
}
