import type { BinaryNode, proto } from '@whiskeysockets/baileys';
import {
  type Chat,
  createMessageId,
  getChat,
  getDirectJid,
  getReceiptRoute,
  getTimeInSeconds,
  type SimulatedAccount,
} from './account.ts';
import {
  composeDelete,
  composeEdit,
  composeReaction,
  composeResentMessage,
  composeText,
  composeTimer,
  type TextDraft,
} from './content.ts';
import { isMember } from './groups.ts';
import { createFileMessage, type FileDraft, type MediaHost } from './media.ts';
import type { Person } from './people.ts';
import type { PhoneSimulator } from './phones.ts';
import { buildSignedBundleNodes } from './signal.ts';
import { buildNode, toBigEndian } from './wire.ts';

/** The chat in which a person acts, and the person. */
interface ActionTarget {
  /** A person in any form, a group, `status@broadcast`, a broadcast list or a channel. */
  readonly chat: string;
  /** The acting person; in a direct chat, the default is the other person. */
  readonly from?: string | undefined;
}

/** The chat and author of a message, and its id (generated when absent). */
type MessageTarget = ActionTarget & { readonly id?: string | undefined };

export type PersonMessage = ActionTarget &
  TextDraft & {
    /** The id of the message; generated when absent. */
    readonly id?: string | undefined;
    /** The time of the message in ms since 1970; the current time when absent. */
    readonly at?: number | undefined;
  };

/** People's actions in their chats with the bot and elsewhere. */
export class PersonActions {
  readonly #account: SimulatedAccount;
  readonly #phones: PhoneSimulator;
  readonly #media: MediaHost;

  constructor(account: SimulatedAccount, phones: PhoneSimulator, media: MediaHost) {
    this.#account = account;
    this.#phones = phones;
    this.#media = media;
  }

  async say({ id, at, ...saying }: PersonMessage): Promise<string> {
    const { chat, person } = this.#place(saying);
    const message = composeText(this.#account, chat, saying);
    return this.#phones.post({ chat, person, message, id, at });
  }

  async post({ id, ...place }: MessageTarget, message: proto.IMessage): Promise<string> {
    return this.#phones.post({ ...this.#place(place), message, id });
  }

  /** Sends encoded bytes, for message types that the library does not support. */
  async postBytes({ id, ...place }: MessageTarget, bytes: Uint8Array): Promise<string> {
    return this.#phones.post({ ...this.#place(place), message: {}, bytes, id });
  }

  /**
   * Sends a message whose content WhatsApp withholds from linked clients, for example `view_once`.
   */
  withhold(place: ActionTarget, type: string): string {
    return this.#phones.withhold(this.#place(place), type);
  }

  /**
   * Sends a message without content, which the client requests from the account's phone;
   * `sendAgain` answers the request.
   */
  withoutContent(place: ActionTarget): string {
    return this.#phones.withhold(this.#place(place), undefined);
  }

  /**
   * Sends the client, from the account's phone, a message that previously arrived without content.
   */
  async sendAgain(
    { id, ...place }: ActionTarget & { readonly id: string },
    message: proto.IMessage,
  ): Promise<void> {
    const { chat, person } = this.#place(place);
    const key = { remoteJid: chat.kind === 'direct' ? getDirectJid(person) : chat.id, id };
    const times = { messageTimestamp: getTimeInSeconds(this.#account), pushName: person.name };
    await this.#phones.postToOwnClient(composeResentMessage({ key, message, ...times }));
  }

  /** Uploads a file to the media host and resolves with an unsent message that refers to it. */
  async file(draft: FileDraft): Promise<proto.IMessage> {
    return createFileMessage(this.#media, draft);
  }

  /**
   * Makes new messages of this chat disappear after this many seconds; 0 keeps them. For groups,
   * `changeGroup` sets the timer.
   */
  async setTimer({
    seconds: after,
    ...place
  }: ActionTarget & { readonly seconds: number }): Promise<string> {
    const { chat, person } = this.#place(place);
    const timer = { seconds: after, setAt: getTimeInSeconds(this.#account) };
    this.#account.timers.set(chat.id, timer);
    return this.#phones.post({ chat, person, message: composeTimer(timer) });
  }

  /** Calls the bot, which cannot answer. */
  call(place: ActionTarget, isVideo = false): void {
    const { person } = this.#place(place);
    const from = getDirectJid(person);
    const offer = { 'call-id': createMessageId(), 'call-creator': from, caller_pn: person.pn };
    const kinds = isVideo ? [buildNode('video')] : [];
    const attrs = { from, id: createMessageId(), t: getTimeInSeconds(this.#account) };
    this.#account.mailbox.pass(buildNode('call', attrs, [buildNode('offer', offer, kinds)]));
  }

  /** Sends a message as the account's owner from their own phone. */
  async sayAsOwner({ chat, ...draft }: PersonMessage): Promise<string> {
    const place = getChat(this.#account, chat);
    return this.#phones.postAsOwner(place, composeText(this.#account, place, draft));
  }

  async sendFile({ chat, from, ...draft }: ActionTarget & FileDraft): Promise<string> {
    return this.post({ chat, from }, await createFileMessage(this.#media, draft));
  }

  async reword({
    id,
    ...saying
  }: ActionTarget & TextDraft & { readonly id: string }): Promise<string> {
    const { chat, person } = this.#place(saying);
    const message = composeEdit(this.#account, chat, person, id, saying);
    return this.#phones.post({ chat, person, message });
  }

  async takeBack({ id, ...place }: ActionTarget & { readonly id: string }): Promise<string> {
    const { chat, person } = this.#place(place);
    const message = composeDelete(this.#account, chat, person, id);
    return this.#phones.post({ chat, person, message });
  }

  async react({
    id,
    emoji,
    ...place
  }: ActionTarget & { readonly id: string; readonly emoji: string }): Promise<string> {
    const { chat, person } = this.#place(place);
    const message = composeReaction(this.#account, chat, person, id, emoji);
    return this.#phones.post({ chat, person, message });
  }

  /** Marks all of the bot's unread messages as read. */
  read(place: ActionTarget): void {
    const { chat, person } = this.#place(place);
    const unread = this.#account.transcript
      .messages(chat.id)
      .filter(({ from, readBy }) => from === 'bot' && !readBy.has(person.id));
    confirmRead(
      this.#account,
      chat,
      person,
      unread.map(({ id }) => id),
    );
  }

  /** The state is not stored, so a disconnected client never receives it. */
  type(place: ActionTarget, state: 'composing' | 'recording' | 'paused'): void {
    const { chat, person } = this.#place(place);
    const isAudio = state === 'recording';
    const sign = buildNode(isAudio ? 'composing' : state, { media: isAudio ? 'audio' : undefined });
    this.#account.mailbox.pass(
      buildNode('chatstate', { ...getReceiptRoute(chat, person) }, [sign]),
    );
  }

  #place({ chat, from }: ActionTarget): { readonly chat: Chat; readonly person: Person } {
    const place = getChat(this.#account, chat);
    return { chat: place, person: resolveSpeaker(this.#account, place, from) };
  }
}

/**
 * Returns the author of a message in a chat.
 * @throws Error when the person cannot write in the chat
 */
function resolveSpeaker(account: SimulatedAccount, chat: Chat, from: string | undefined): Person {
  if (chat.kind === 'direct') return chat.person;
  if (from === undefined) throw new Error(`Name the author in "from" for messages in ${chat.id}`);
  const person = account.people.get(from);
  if (chat.kind === 'group' && !isMember(chat.group, person)) {
    throw new Error(`${person.name} is not in ${chat.group.subject}`);
  }
  return person;
}

/** The number of times a phone requests the same message before giving up, as real phones do. */
const MAX_RETRIES = 5;

/** Confirms delivery by a person's phone: two gray ticks. */
export function confirmDelivery(
  account: SimulatedAccount,
  chat: Chat,
  person: Person,
  sent: BinaryNode,
): void {
  const attrs = {
    ...getReceiptRoute(chat, person, sent.attrs.to),
    id: sent.attrs.id,
    t: getTimeInSeconds(account),
  };
  account.mailbox.put(buildNode('receipt', attrs), chat.id);
}

/** Confirms that a person has read messages: two blue ticks. */
function confirmRead(
  account: SimulatedAccount,
  chat: Chat,
  person: Person,
  ids: readonly string[],
): void {
  const [first, ...others] = ids;
  if (first === undefined) return;
  const items = others.map((id) => buildNode('item', { id }));
  const attrs = {
    ...getReceiptRoute(chat, person),
    id: first,
    type: 'read',
    t: getTimeInSeconds(account),
  };
  const list = items.length === 0 ? undefined : [buildNode('list', {}, items)];
  account.mailbox.put(buildNode('receipt', attrs, list), chat.id);
  account.transcript.read(chat.id, ids, person.id);
}

/**
 * Reports that a person's phone could not decrypt the message and requests it again, with new keys
 * from the second request on.
 */
export function requestRetry(
  account: SimulatedAccount,
  chat: Chat,
  person: Person,
  sent: BinaryNode,
): void {
  const id = sent.attrs.id ?? '';
  const before = account.transcript.sends.filter(
    (send) => send.id === id && send.unreadable.includes(person.id),
  );
  const count = before.length;
  if (count > MAX_RETRIES) return;
  const t = getTimeInSeconds(account);
  const { registrationId, signedIdentityKey } = person.phone.creds;
  const keys = buildNode('keys', {}, [
    buildNode('type', {}, Buffer.from([5])),
    buildNode('identity', {}, signedIdentityKey.public),
    ...buildSignedBundleNodes(person.phone.bundle()),
  ]);
  account.mailbox.put(
    buildNode(
      'receipt',
      { ...getReceiptRoute(chat, person, sent.attrs.to), id, type: 'retry', t },
      [
        buildNode('retry', { v: 1, count, id, t }),
        buildNode('registration', {}, toBigEndian(registrationId, 4)),
        ...(count > 1 ? [keys] : []),
      ],
    ),
    chat.id,
  );
}
