import { randomBytes } from 'node:crypto';
import { jidDecode, jidEncode, jidNormalizedUser } from '@whiskeysockets/baileys';
import type { Faults } from './faults.ts';
import type { Group, Groups } from './groups.ts';
import type { Mailbox } from './mailbox.ts';
import type { People, Person } from './people.ts';
import type { KeyBundle, NumberedKey } from './signal.ts';
import type { Transcript } from './transcript.ts';

/** Everything the double keeps: the bot's account, the people, what was said. */
export interface Account {
  /** The person whose account the bot is linked to; their phone is device 0. */
  readonly me: Person & { readonly pn: string };
  readonly people: People;
  readonly groups: Groups;
  readonly mailbox: Mailbox;
  readonly transcript: Transcript;
  readonly faults: Faults;
  /** `host:port` that media goes to. */
  readonly mediaHost: string;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** By chat: when messages disappear. */
  readonly timers: Map<string, Timer>;
  /** The linked client, connected or not. */
  companion: Companion | undefined;
}

/** The time for which messages of a chat stay. */
export interface Timer {
  /** 0: until somebody deletes them. */
  readonly seconds: number;
  /** In seconds since 1970. */
  readonly setAt: number;
}

/** The chat of a message. */
export type Chat =
  | { readonly kind: 'direct'; readonly id: string; readonly person: Person }
  | { readonly kind: 'group'; readonly id: string; readonly group: Group }
  /** Somebody's status, or a list of theirs: not meant for the bot alone. */
  | { readonly kind: 'broadcast'; readonly id: string }
  /** A channel that the account follows: not sealed. */
  | { readonly kind: 'newsletter'; readonly id: string };

/** @throws Error for a JID that the double does not know. */
export function chatOf(account: Account, jid: string): Chat {
  if (jid.endsWith('@broadcast')) return { kind: 'broadcast', id: jid };
  if (jid.endsWith('@newsletter')) return { kind: 'newsletter', id: jid };
  if (jid.endsWith('@g.us')) return { kind: 'group', id: jid, group: account.groups.get(jid) };
  const person = account.people.get(jid);
  return { kind: 'direct', id: person.id, person };
}

/** The same without a complaint about one that the double does not know. */
export function findChat(account: Account, jid: string): Chat | undefined {
  const isKnown = account.groups.find(jid) !== undefined || account.people.find(jid) !== undefined;
  return isKnown ? chatOf(account, jid) : undefined;
}

/** @throws Error while no client is linked: there is nobody to write to. */
export function linked(account: Account): Companion {
  if (account.companion === undefined) throw new Error('No client is linked: scan its QR first');
  return account.companion;
}

/** The double's time in seconds, as it stands on stanzas. */
export function seconds(account: Account): number {
  return Math.floor(account.clock() / 1000);
}

/** Attributes of a stanza; those without a value are left out. */
export type Attributes = Readonly<Record<string, string | number | undefined>>;

/** The origin of a message; the other identity stands beside the used one, when the bot may know it. */
export function messageRoute(chat: Chat, person: Person): Attributes {
  if (chat.kind === 'newsletter')
    return { from: chat.id, server_id: randomBytes(2).readUInt16BE() };
  if (chat.kind === 'broadcast') return { from: chat.id, participant: directJid(person) };
  if (chat.kind === 'group') {
    const { lid, pn } = person;
    return { from: chat.id, participant: lid, participant_pn: pn, addressing_mode: 'lid' };
  }
  const from = directJid(person);
  if (from === person.lid) return { from, sender_pn: person.pn, addressing_mode: 'lid' };
  return { from, sender_lid: person.lid, addressing_mode: 'pn' };
}

/**
 * The origin of a receipt or a sign of typing. @param address the address the bot wrote to: in a direct chat a phone
 * answers under it.
 */
export function receiptRoute(chat: Chat, person: Person, address?: string): Attributes {
  if (chat.kind !== 'direct') return { from: chat.id, participant: person.lid };
  return { from: address === undefined ? directJid(person) : jidNormalizedUser(address) };
}

/** The name of a person in a chat, by others and in mentions: direct chats may use numbers. */
export function nameIn(chat: Chat, person: Person): string {
  if (chat.kind !== 'direct') return person.lid;
  return chat.person.addressing === 'pn' ? (person.pn ?? person.lid) : person.lid;
}

/** An id as phones make them: 32 hexadecimal digits. */
export function newId(): string {
  return randomBytes(16).toString('hex').toUpperCase();
}

/** The JID a person has in a direct chat with the bot. */
export function directJid(person: Person): string {
  return person.addressing === 'pn' ? (person.pn ?? person.lid) : person.lid;
}

/** The client that is linked to the bot's account, as the servers know it. */
export class Companion {
  /** With the device, for example `491…:1@s.whatsapp.net`. */
  readonly pn: string;
  readonly lid: string;
  readonly device: number;
  /** The Noise key it proves at each login. */
  readonly noiseKey: Uint8Array;
  /** It has not logged in yet: its first login brings history from the phone. */
  isNew = true;
  #keys: KeyBundle | undefined;
  #oneTime: NumberedKey[] = [];
  readonly #published = Promise.withResolvers<void>();

  constructor(
    me: { readonly pn: string; readonly lid: string },
    device: number,
    noiseKey: Uint8Array,
  ) {
    this.pn = withDevice(me.pn, device);
    this.lid = withDevice(me.lid, device);
    this.device = device;
    this.noiseKey = noiseKey;
  }

  /** Resolves when there are keys to write to it with; what is said to a new client waits for them. */
  get published(): Promise<void> {
    return this.#published.promise;
  }

  /** The number of one-time keys that others may still take. */
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
   * Takes the keys for writing to it; each one-time key is given out once. @throws Error before it has published
   * keys.
   */
  take(): KeyBundle {
    if (this.#keys === undefined) throw new Error('The client has not published its keys yet');
    const oneTime = this.#oneTime.shift();
    return oneTime === undefined ? this.#keys : { ...this.#keys, oneTime };
  }
}

function withDevice(jid: string, device: number): string {
  const decoded = jidDecode(jid);
  if (decoded === undefined) throw new Error(`Not a JID: ${jid}`);
  return jidEncode(decoded.user, decoded.server, device);
}
