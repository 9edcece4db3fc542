import { randomBytes } from 'node:crypto';
import { jidNormalizedUser } from '@whiskeysockets/baileys';
import type { Account, Chat } from './account.ts';
import { isMember } from './groups.ts';
import { directJid, type Person } from './people.ts';

/** Attributes of a stanza; those without a value are left out. */
export type Attributes = Readonly<Record<string, string | number | undefined>>;

/** Who speaks in a chat. @throws Error for somebody who cannot. */
export function speaker(account: Account, chat: Chat, from: string | undefined): Person {
  if (chat.kind === 'direct') return chat.person;
  if (from === undefined) throw new Error(`Who writes in ${chat.id}? Say from`);
  const person = account.people.get(from);
  if (chat.kind === 'group' && !isMember(chat.group, person)) {
    throw new Error(`${person.name} is not in ${chat.group.subject}`);
  }
  return person;
}

/** Where a message comes from; beside the identity used stands the other one, when the bot may know it. */
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
 * Where a receipt or a sign of typing comes from.
 * @param address the address the bot wrote to: in a direct chat a phone answers under it.
 */
export function receiptRoute(chat: Chat, person: Person, address?: string): Attributes {
  if (chat.kind !== 'direct') return { from: chat.id, participant: person.lid };
  return { from: address === undefined ? directJid(person) : jidNormalizedUser(address) };
}

/** What a person is called in a chat, by others and in mentions: direct chats may use numbers. */
export function nameIn(chat: Chat, person: Person): string {
  if (chat.kind !== 'direct') return person.lid;
  return chat.person.addressing === 'pn' ? (person.pn ?? person.lid) : person.lid;
}

/** An id as phones make them: 32 hexadecimal digits. */
export function newId(): string {
  return randomBytes(16).toString('hex').toUpperCase();
}
