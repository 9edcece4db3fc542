import { type BinaryNode, proto } from '@whiskeysockets/baileys';
import {
  type Attributes,
  type Chat,
  createMessageId,
  getDirectJid,
  getMessageRoute,
  getTimeInSeconds,
  requireCompanion,
  type SimulatedAccount,
} from './account.ts';
import type { Person } from './people.ts';
import { type Attachment, parseMessageContent } from './read-content.ts';
import type { KeyBundle } from './signal.ts';
import { buildNode } from './wire.ts';

/**
 * The byte at this distance from the end is part of a ciphertext's MAC or of a group ciphertext's
 * signature.
 */
const PROOF_DEPTH = 10;

/** A message that is sent to the linked client. */
interface PendingMessage {
  readonly chat: Chat;
  readonly person: Person;
  readonly message: proto.IMessage;
  /** The encoded message, for message types that the library does not support. */
  readonly bytes?: Uint8Array | undefined;
  /** The message id; generated when absent. */
  readonly id?: string | undefined;
  /** The time of the message in ms since 1970; the current time when absent. */
  readonly at?: number | undefined;
}

/** A phone's copy of a sent message, kept in case the client cannot decrypt it. */
interface RememberedMessage {
  readonly posting: PendingMessage;
  readonly attrs: Attributes;
}

/** People's phones, which encrypt messages for the linked client, one at a time. */
export class PhoneSimulator {
  readonly #account: SimulatedAccount;
  readonly #remembered = new Map<string, RememberedMessage>();
  /** The groups and people whose sender keys the client has received. */
  readonly #keyed = new Set<string>();
  #work: Promise<unknown> = Promise.resolve();

  constructor(account: SimulatedAccount) {
    this.#account = account;
  }

  /** Sends a message and resolves with its id when the message is queued for delivery. */
  post(posting: PendingMessage): Promise<string> {
    return this.#inTurn(async () => {
      const { chat, person, message, id = createMessageId(), at = this.#account.clock() } = posting;
      const attrs = {
        ...getMessageRoute(chat, person),
        id,
        t: Math.floor(at / 1000),
        notify: person.name,
        ...getStanzaKind(message),
      };
      this.#remembered.set(id, { posting, attrs });
      this.#account.mailbox.put(buildNode('message', attrs, await this.#sealAll(posting)), chat.id);
      const source = { chat: chat.id, from: person.id, id };
      this.#account.transcript.apply(source, parseMessageContent(message), message);
      return id;
    });
  }

  /**
   * Sends a message without content; `type` is the reason why WhatsApp withholds it from linked
   * clients.
   */
  withhold(
    { chat, person }: Pick<PendingMessage, 'chat' | 'person'>,
    type: string | undefined,
  ): string {
    const id = createMessageId();
    const route = { ...getMessageRoute(chat, person), id, t: getTimeInSeconds(this.#account) };
    const attrs = { ...route, notify: person.name, type: 'media' };
    this.#account.mailbox.put(
      buildNode('message', attrs, [buildNode('unavailable', { type })]),
      chat.id,
    );
    return id;
  }

  /** Sends a message from the owner's own phone; the client receives a copy. */
  postAsOwner(chat: Chat, message: proto.IMessage): Promise<string> {
    const { transcript, me } = this.#account;
    const id = createMessageId();
    const destinationJid = chat.kind === 'direct' ? getDirectJid(chat.person) : chat.id;
    const attrs = { recipient: destinationJid, id, ...getStanzaKind(message) };
    transcript.apply({ chat: chat.id, from: 'owner', id }, parseMessageContent(message), message);
    return this.#postToOwnClient(attrs, { deviceSentMessage: { destinationJid, message } }, me.id);
  }

  /** Sends a message from the account's phone to the client only, for example history or keys. */
  postToOwnClient(message: proto.IMessage): Promise<string> {
    const attrs = { id: createMessageId(), type: 'text', category: 'peer' };
    return this.#postToOwnClient(attrs, message, this.#account.me.id);
  }

  /**
   * Encrypts a message again for a client that could not decrypt it, with the client's new keys if
   * it sent any.
   */
  resend(id: string, count: string, keys: KeyBundle | undefined): Promise<void> {
    return this.#inTurn(async () => {
      const remembered = this.#remembered.get(id);
      if (remembered === undefined) return;
      const { posting, attrs } = remembered;
      const { chat, person, message } = posting;
      await person.phone.begin(
        requireCompanion(this.#account).lid,
        keys ?? requireCompanion(this.#account).take(),
      );
      const key = chat.kind === 'group' ? await createGroupKeyMessage(chat.id, person) : {};
      const enc = await this.#seal(person, { ...message, ...key }, chat.id, count);
      this.#account.mailbox.put(buildNode('message', attrs, [enc]), chat.id);
    });
  }

  /** Returns the file from a message that was sent to the client. */
  fileOf(id: string): Attachment | undefined {
    const message = this.#remembered.get(id)?.posting.message;
    const content = message === undefined ? undefined : parseMessageContent(message);
    return content?.kind === 'message' ? content.attachment : undefined;
  }

  /** Discards all sessions with the client because a new client was linked. */
  forgetClient(): void {
    this.#remembered.clear();
    for (const person of this.#account.people.all) this.forgetSessions(person);
  }

  /** Deletes the sessions and sender keys of a phone. */
  forgetSessions(person: Person): void {
    person.phone.forgetSessions();
    for (const group of this.#account.groups.all) this.#keyed.delete(`${group.jid} ${person.lid}`);
  }

  #postToOwnClient(attrs: Attributes, message: proto.IMessage, chat: string): Promise<string> {
    return this.#inTurn(async () => {
      const { me, mailbox } = this.#account;
      const route = { from: me.pn, t: getTimeInSeconds(this.#account), notify: me.name };
      const enc = await this.#seal(me, message, chat);
      mailbox.put(buildNode('message', { ...route, ...attrs }, [enc]), chat);
      return String(attrs.id);
    });
  }

  async #sealAll({ chat, person, ...posting }: PendingMessage): Promise<BinaryNode[]> {
    const message = posting.bytes ?? posting.message;
    if (chat.kind === 'newsletter') {
      return [buildNode('plaintext', {}, proto.Message.encode(posting.message).finish())];
    }
    if (chat.kind !== 'group') return [await this.#seal(person, message, chat.id)];
    const known = `${chat.id} ${person.lid}`;
    const { ciphertext, key } = await person.phone.sealForGroup(chat.id, person.lid, message);
    const first = this.#keyed.has(known) ? [] : [await this.#seal(person, key)];
    this.#keyed.add(known);
    return [
      ...first,
      buildNode('enc', { v: 2, type: 'skmsg' }, this.#garbled(chat.id, ciphertext)),
    ];
  }

  async #seal(
    person: Person,
    message: proto.IMessage | Uint8Array,
    chat?: string,
    count?: string,
  ): Promise<BinaryNode> {
    const companion = requireCompanion(this.#account);
    if (!(await person.phone.knows(companion.lid))) {
      await companion.published;
      await person.phone.begin(companion.lid, companion.take());
    }
    const { type, ciphertext } = await person.phone.seal(companion.lid, message);
    return buildNode('enc', { v: 2, type, count }, this.#garbled(chat, ciphertext));
  }

  /** Changes a byte of the MAC or signature if a fault requires it, so that verification fails. */
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

async function createGroupKeyMessage(group: string, person: Person): Promise<proto.IMessage> {
  const { key } = await person.phone.sealForGroup(group, person.lid, {});
  return key;
}

/** The stanza's type and the kind of edit: 1 for an edit, 7 for a deletion. */
function getStanzaKind(message: proto.IMessage): { readonly type: string; readonly edit?: number } {
  const content = parseMessageContent(message);
  if (content.kind === 'reaction') return { type: 'reaction' };
  if (content.kind === 'edit') return { type: 'text', edit: 1 };
  if (content.kind === 'delete') return { type: 'text', edit: 7 };
  const hasFile = content.kind === 'message' && content.attachment !== undefined;
  return { type: hasFile ? 'media' : 'text' };
}
