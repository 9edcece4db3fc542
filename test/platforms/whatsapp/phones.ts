import { randomBytes } from 'node:crypto';
import type { BinaryNode, proto } from '@whiskeysockets/baileys';
import { type Account, type Chat, chatOf, linked, seconds } from './account.ts';
import { isMember } from './groups.ts';
import { directJid, type Person } from './people.ts';
import { readContent } from './read-content.ts';
import type { KeyBundle } from './signal/key-bundle.ts';
import type { Sealed } from './signal/signal-party.ts';
import { node } from './wire/nodes.ts';

/** A message that a person sends: where, what, and under which id. */
export interface Posting {
  readonly chat: string;
  /** Who writes; the person of the chat when absent. In a group it must be said. */
  readonly from?: string | undefined;
  readonly message: proto.IMessage;
  /** The id of the message; a fresh one when absent. */
  readonly id?: string | undefined;
  /** Milliseconds since 1970; now when absent. */
  readonly at?: number | undefined;
}

/** What a phone remembers of a message, for a client that could not open it. */
interface Remembered {
  readonly chat: Chat;
  readonly person: Person;
  readonly message: proto.IMessage;
  readonly attrs: Readonly<Record<string, string | number | undefined>>;
}

/** People's phones: they seal what is said for the linked client, one message after the other. */
export class Phones {
  readonly #account: Account;
  readonly #remembered = new Map<string, Remembered>();
  /** Groups, by person, whose sender key the client has got. */
  readonly #keyed = new Set<string>();
  #work: Promise<unknown> = Promise.resolve();

  constructor(account: Account) {
    this.#account = account;
  }

  /** Sends a message to the linked client; resolves with its id when it is on its way. */
  post(posting: Posting): Promise<string> {
    return this.#inTurn(() => this.#post(posting));
  }

  /** The person of the account writes on their own phone; the client gets a copy. */
  postAsOwner({ chat, message, id = newId(), at }: Posting): Promise<string> {
    return this.#inTurn(async () => {
      const account = this.#account;
      const place = chatOf(account, chat);
      const destinationJid = place.kind === 'group' ? place.id : directJid(place.person);
      const attrs = {
        from: account.me.pn,
        recipient: destinationJid,
        id,
        type: 'text',
        t: time(account, at),
        notify: account.me.name,
      };
      const copy = { deviceSentMessage: { destinationJid, message } };
      account.mailbox.put(node('message', attrs, [await this.#seal(account.me, copy)]), place.id);
      account.transcript.apply({ chat: place.id, from: 'owner', id }, readContent(message));
      return id;
    });
  }

  /** The account's phone says something to the client alone: history, keys. */
  postToOwnClient(message: proto.IMessage): Promise<string> {
    return this.#inTurn(async () => {
      const account = this.#account;
      const id = newId();
      const attrs = {
        from: account.me.pn,
        id,
        type: 'text',
        category: 'peer',
        notify: account.me.name,
        t: seconds(account),
      };
      account.mailbox.put(
        node('message', attrs, [await this.#seal(account.me, message)]),
        account.me.id,
      );
      return id;
    });
  }

  /** The client could not open a message: the phone seals it again, with the client's new keys if it sent some. */
  resend(id: string, count: string, keys: KeyBundle | undefined): Promise<void> {
    return this.#inTurn(async () => {
      const remembered = this.#remembered.get(id);
      if (remembered === undefined) return;
      const { chat, person, message, attrs } = remembered;
      const account = this.#account;
      await person.phone.begin(linked(account).lid, keys ?? linked(account).take());
      const content =
        chat.kind === 'group'
          ? { ...message, ...(await this.#groupKey(chat.id, person)) }
          : message;
      const enc = await this.#seal(person, content, { chat: chat.id, count });
      account.mailbox.put(node('message', attrs, [enc]), chat.id);
    });
  }

  /** A new client is linked: nobody has a session with it. */
  forgetClient(): void {
    this.#keyed.clear();
    this.#remembered.clear();
    for (const person of this.#account.people.all) person.phone.forgetSessions();
  }

  /** A phone loses its sessions and sender keys. */
  forgetSessions(person: Person): void {
    person.phone.forgetSessions();
    for (const group of this.#account.groups.all) this.#keyed.delete(`${group.jid} ${person.lid}`);
  }

  async #post({ chat, from, message, id = newId(), at }: Posting): Promise<string> {
    const account = this.#account;
    const place = chatOf(account, chat);
    const person = authorOf(account, place, from);
    const attrs = {
      ...route(place, person),
      id,
      type: kindOf(message),
      t: time(account, at),
      notify: person.name,
    };
    const enc =
      place.kind === 'group'
        ? await this.#sealForGroup(place, person, message)
        : [await this.#seal(person, message, { chat: place.id })];
    this.#remembered.set(id, { chat: place, person, message, attrs });
    account.mailbox.put(node('message', attrs, enc), place.id);
    account.transcript.apply({ chat: place.id, from: person.id, id }, readContent(message));
    return id;
  }

  async #sealForGroup(
    { group }: Chat & { readonly kind: 'group' },
    person: Person,
    message: proto.IMessage,
  ): Promise<BinaryNode[]> {
    const { ciphertext, key } = await person.phone.sealForGroup(group.jid, person.lid, message);
    const known = `${group.jid} ${person.lid}`;
    const first = this.#keyed.has(known) ? [] : [await this.#seal(person, key)];
    this.#keyed.add(known);
    const content = this.#account.faults.takeSeal(group.jid) ? garbled(ciphertext) : ciphertext;
    return [...first, node('enc', { v: 2, type: 'skmsg' }, content)];
  }

  async #groupKey(group: string, person: Person): Promise<proto.IMessage> {
    const { key } = await person.phone.sealForGroup(group, person.lid, {});
    return key;
  }

  async #seal(
    person: Person,
    message: proto.IMessage,
    { chat, count }: { readonly chat?: string; readonly count?: string } = {},
  ): Promise<BinaryNode> {
    const companion = linked(this.#account);
    if (!(await person.phone.knows(companion.lid))) {
      await person.phone.begin(companion.lid, companion.take());
    }
    const sealed: Sealed = await person.phone.seal(companion.lid, message);
    const isGarbled = chat !== undefined && this.#account.faults.takeSeal(chat) !== undefined;
    const content = isGarbled ? garbled(sealed.ciphertext) : sealed.ciphertext;
    return node('enc', { v: 2, type: sealed.type, count }, content);
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#work.then(work);
    this.#work = done.catch(() => undefined);
    return done;
  }
}

function authorOf(account: Account, chat: Chat, from: string | undefined): Person {
  if (chat.kind === 'direct') return chat.person;
  if (from === undefined) throw new Error(`Who writes in ${chat.id}? Say from`);
  const person = account.people.get(from);
  if (!isMember(chat.group, person))
    throw new Error(`${person.name} is not in ${chat.group.subject}`);
  return person;
}

/** Where a message comes from; beside the identity used stands the other one, when the bot may know it. */
function route(chat: Chat, person: Person) {
  if (chat.kind === 'group') {
    return {
      from: chat.id,
      participant: person.lid,
      participant_pn: person.pn,
      addressing_mode: 'lid',
    };
  }
  const from = directJid(person);
  if (from === person.lid) return { from, sender_pn: person.pn, addressing_mode: 'lid' };
  return { from, sender_lid: person.lid, addressing_mode: 'pn' };
}

/** Ids as phones make them: 32 hexadecimal digits. */
export function newId(): string {
  return randomBytes(16).toString('hex').toUpperCase();
}

function time(account: Account, at: number | undefined): number {
  return Math.floor((at ?? account.clock()) / 1000);
}

function kindOf(message: proto.IMessage): string {
  if (message.reactionMessage != null) return 'reaction';
  const hasFile = Object.keys(message).some((field) =>
    /^(image|video|audio|document|sticker)Message$/.test(field),
  );
  return hasFile ? 'media' : 'text';
}

/** Another last byte: the seal does not hold any more. */
function garbled(ciphertext: Uint8Array): Uint8Array {
  const changed = Buffer.from(ciphertext);
  changed.writeUInt8(changed.readUInt8(changed.length - 1) ^ 0xff, changed.length - 1);
  return changed;
}
