import type { proto } from '@whiskeysockets/baileys';
import { type Account, type Chat, chatOf } from './account.ts';
import { composeDelete, composeEdit, composeReaction, composeText, type Draft } from './compose.ts';
import { type FileDraft, fileMessage } from './media/file-message.ts';
import type { MediaHost } from './media/media-host.ts';
import type { Person } from './people.ts';
import { tellRead } from './people-receipts.ts';
import type { Phones } from './phones.ts';
import { receiptRoute, speaker } from './routes.ts';
import { node } from './wire/nodes.ts';

/** Who does something, and where. */
export interface Place {
  /** A person in any form, a group, `status@broadcast`, a list or a channel. */
  readonly chat: string;
  /** Who does it; in a direct chat the person of the chat. */
  readonly from?: string | undefined;
}

/** Something said. */
export type Saying = Place &
  Draft & {
    /** The id of the message; a fresh one when absent. */
    readonly id?: string | undefined;
    /** Milliseconds since 1970; now when absent. */
    readonly at?: number | undefined;
  };

/** What people do in their chats with the bot, and beside it. */
export class Acts {
  readonly #account: Account;
  readonly #phones: Phones;
  readonly #media: MediaHost;

  constructor(account: Account, phones: Phones, media: MediaHost) {
    this.#account = account;
    this.#phones = phones;
    this.#media = media;
  }

  async say({ id, at, ...saying }: Saying): Promise<string> {
    const { chat, person } = this.#place(saying);
    const message = composeText(this.#account, chat, saying);
    return this.#phones.post({ chat, person, message, id, at });
  }

  /** A message of any content, as it goes into the seal. */
  async post(place: Place, message: proto.IMessage): Promise<string> {
    return this.#phones.post({ ...this.#place(place), message });
  }

  /** The person of the account writes on their own phone. */
  async sayAsOwner({ chat, ...draft }: Saying): Promise<string> {
    const place = chatOf(this.#account, chat);
    return this.#phones.postAsOwner(place, composeText(this.#account, place, draft));
  }

  async sendFile({ chat, from, ...draft }: Place & FileDraft): Promise<string> {
    return this.post({ chat, from }, await fileMessage(this.#media, draft));
  }

  async reword({ id, ...saying }: Place & Draft & { readonly id: string }): Promise<string> {
    const { chat, person } = this.#place(saying);
    const message = composeEdit(this.#account, chat, person, id, saying);
    return this.#phones.post({ chat, person, message });
  }

  async takeBack({ id, ...place }: Place & { readonly id: string }): Promise<string> {
    const { chat, person } = this.#place(place);
    const message = composeDelete(this.#account, chat, person, id);
    return this.#phones.post({ chat, person, message });
  }

  async react({
    id,
    emoji,
    ...place
  }: Place & { readonly id: string; readonly emoji: string }): Promise<string> {
    const { chat, person } = this.#place(place);
    const message = composeReaction(this.#account, chat, person, id, emoji);
    return this.#phones.post({ chat, person, message });
  }

  /** Reads everything of the bot that is not read yet. */
  read(place: Place): void {
    const { chat, person } = this.#place(place);
    const unread = this.#account.transcript
      .messages(chat.id)
      .filter(({ from, readBy }) => from === 'bot' && !readBy.has(person.id));
    tellRead(
      this.#account,
      chat,
      person,
      unread.map(({ id }) => id),
    );
  }

  /** Not kept: a client that is away never learns of it. */
  type(place: Place, state: 'composing' | 'recording' | 'paused'): void {
    const { chat, person } = this.#place(place);
    const isAudio = state === 'recording';
    const sign = node(isAudio ? 'composing' : state, { media: isAudio ? 'audio' : undefined });
    this.#account.mailbox.pass(node('chatstate', { ...receiptRoute(chat, person) }, [sign]));
  }

  #place({ chat, from }: Place): { readonly chat: Chat; readonly person: Person } {
    const place = chatOf(this.#account, chat);
    return { chat: place, person: speaker(this.#account, place, from) };
  }
}
