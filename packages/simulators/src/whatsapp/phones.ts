import { type BinaryNode, proto } from '@whiskeysockets/baileys';
import {
  type Account,
  type Attributes,
  type Chat,
  directJid,
  linked,
  messageRoute,
  newId,
  seconds,
} from './account.ts';
import type { Person } from './people.ts';
import { type Attachment, readContent } from './read-content.ts';
import type { KeyBundle } from './signal.ts';
import { node } from './wire.ts';

/** This many bytes before the end is the MAC of a sealed message, or the signature of one for a group. */
const PROOF_DEPTH = 10;

/** A message on its way to the linked client. */
interface Posting {
  readonly chat: Chat;
  readonly person: Person;
  readonly message: proto.IMessage;
  /** The message as bytes, of an app that knows more kinds than the library. */
  readonly bytes?: Uint8Array | undefined;
  /** A fresh one when absent. */
  readonly id?: string | undefined;
  /** Milliseconds since 1970; now when absent. */
  readonly at?: number | undefined;
}

/** The copy of a message that a phone keeps for a client that could not open it. */
interface Remembered {
  readonly posting: Posting;
  readonly attrs: Attributes;
}

/** People's phones: they seal what is said for the linked client, one message after the other. */
export class Phones {
  readonly #account: Account;
  readonly #remembered = new Map<string, Remembered>();
  /** Group and person, where the client has got the person's sender key. */
  readonly #keyed = new Set<string>();
  #work: Promise<unknown> = Promise.resolve();

  constructor(account: Account) {
    this.#account = account;
  }

  /** Resolves with the id of the message when it is on its way. */
  post(posting: Posting): Promise<string> {
    return this.#inTurn(async () => {
      const { chat, person, message, id = newId(), at = this.#account.clock() } = posting;
      const attrs = {
        ...messageRoute(chat, person),
        id,
        t: Math.floor(at / 1000),
        notify: person.name,
        ...kindOf(message),
      };
      this.#remembered.set(id, { posting, attrs });
      this.#account.mailbox.put(node('message', attrs, await this.#sealAll(posting)), chat.id);
      const source = { chat: chat.id, from: person.id, id };
      this.#account.transcript.apply(source, readContent(message), message);
      return id;
    });
  }

  /** A message without content; `type`: WhatsApp keeps it from linked clients for this reason. */
  withhold({ chat, person }: Pick<Posting, 'chat' | 'person'>, type: string | undefined): string {
    const id = newId();
    const route = { ...messageRoute(chat, person), id, t: seconds(this.#account) };
    const attrs = { ...route, notify: person.name, type: 'media' };
    this.#account.mailbox.put(node('message', attrs, [node('unavailable', { type })]), chat.id);
    return id;
  }

  /** The person of the account writes on their own phone; the client gets a copy. */
  postAsOwner(chat: Chat, message: proto.IMessage): Promise<string> {
    const { transcript, me } = this.#account;
    const id = newId();
    const destinationJid = chat.kind === 'direct' ? directJid(chat.person) : chat.id;
    const attrs = { recipient: destinationJid, id, ...kindOf(message) };
    transcript.apply({ chat: chat.id, from: 'owner', id }, readContent(message), message);
    return this.#postToOwnClient(attrs, { deviceSentMessage: { destinationJid, message } }, me.id);
  }

  /** The account's phone says something to the client alone: history, keys. */
  postToOwnClient(message: proto.IMessage): Promise<string> {
    const attrs = { id: newId(), type: 'text', category: 'peer' };
    return this.#postToOwnClient(attrs, message, this.#account.me.id);
  }

  /** The client could not open a message: it is sealed again, with the client's new keys if it sent some. */
  resend(id: string, count: string, keys: KeyBundle | undefined): Promise<void> {
    return this.#inTurn(async () => {
      const remembered = this.#remembered.get(id);
      if (remembered === undefined) return;
      const { posting, attrs } = remembered;
      const { chat, person, message } = posting;
      await person.phone.begin(linked(this.#account).lid, keys ?? linked(this.#account).take());
      const key = chat.kind === 'group' ? await groupKey(chat.id, person) : {};
      const enc = await this.#seal(person, { ...message, ...key }, chat.id, count);
      this.#account.mailbox.put(node('message', attrs, [enc]), chat.id);
    });
  }

  /** The file of a message that was sent to the client. */
  fileOf(id: string): Attachment | undefined {
    const message = this.#remembered.get(id)?.posting.message;
    const content = message === undefined ? undefined : readContent(message);
    return content?.kind === 'message' ? content.attachment : undefined;
  }

  /** A new client is linked: nobody has a session with it. */
  forgetClient(): void {
    this.#remembered.clear();
    for (const person of this.#account.people.all) this.forgetSessions(person);
  }

  /** A phone loses its sessions and sender keys. */
  forgetSessions(person: Person): void {
    person.phone.forgetSessions();
    for (const group of this.#account.groups.all) this.#keyed.delete(`${group.jid} ${person.lid}`);
  }

  #postToOwnClient(attrs: Attributes, message: proto.IMessage, chat: string): Promise<string> {
    return this.#inTurn(async () => {
      const { me, mailbox } = this.#account;
      const route = { from: me.pn, t: seconds(this.#account), notify: me.name };
      const enc = await this.#seal(me, message, chat);
      mailbox.put(node('message', { ...route, ...attrs }, [enc]), chat);
      return String(attrs.id);
    });
  }

  async #sealAll({ chat, person, ...posting }: Posting): Promise<BinaryNode[]> {
    const message = posting.bytes ?? posting.message;
    if (chat.kind === 'newsletter') {
      return [node('plaintext', {}, proto.Message.encode(posting.message).finish())];
    }
    if (chat.kind !== 'group') return [await this.#seal(person, message, chat.id)];
    const known = `${chat.id} ${person.lid}`;
    const { ciphertext, key } = await person.phone.sealForGroup(chat.id, person.lid, message);
    const first = this.#keyed.has(known) ? [] : [await this.#seal(person, key)];
    this.#keyed.add(known);
    return [...first, node('enc', { v: 2, type: 'skmsg' }, this.#garbled(chat.id, ciphertext))];
  }

  async #seal(
    person: Person,
    message: proto.IMessage | Uint8Array,
    chat?: string,
    count?: string,
  ): Promise<BinaryNode> {
    const companion = linked(this.#account);
    if (!(await person.phone.knows(companion.lid))) {
      await companion.published;
      await person.phone.begin(companion.lid, companion.take());
    }
    const { type, ciphertext } = await person.phone.seal(companion.lid, message);
    return node('enc', { v: 2, type, count }, this.#garbled(chat, ciphertext));
  }

  /** Another byte in the proof at the end, where a fault wants it: the seal does not hold any more. */
  #garbled(chat: string | undefined, ciphertext: Uint8Array): Uint8Array {
    if (chat === undefined || this.#account.faults.takeSeal(chat) === undefined) return ciphertext;
    const changed = Buffer.from(ciphertext);
    const place = changed.length - PROOF_DEPTH;
    changed.writeUInt8(changed.readUInt8(place) ^ 0xff, place);
    return changed;
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#work.then(work);
    this.#work = done.catch(() => undefined);
    return done;
  }
}

async function groupKey(group: string, person: Person): Promise<proto.IMessage> {
  const { key } = await person.phone.sealForGroup(group, person.lid, {});
  return key;
}

/** The type of the stanza, and what kind of change it is: 1 for an edit, 7 for a message taken back. */
function kindOf(message: proto.IMessage): { readonly type: string; readonly edit?: number } {
  const content = readContent(message);
  if (content.kind === 'reaction') return { type: 'reaction' };
  if (content.kind === 'edit') return { type: 'text', edit: 1 };
  if (content.kind === 'delete') return { type: 'text', edit: 7 };
  const hasFile = content.kind === 'message' && content.attachment !== undefined;
  return { type: hasFile ? 'media' : 'text' };
}
