import type { Optional } from '../optional-fields.ts';
import type { Draft } from './account.ts';
import type { Connecting } from './elsewhere.ts';
import type { Fault, FloodLimits } from './faults.ts';
import type { LocalServer } from './files.ts';
import type { Access, Press, Reaction, Saying } from './people.ts';
import type { RecordedCall, Transcript, VisibleMessage } from './transcript.ts';
import type { WireMessage, WireUpdate, WireUser } from './wire.ts';

/** The options of a double; everything has a default. */
export interface TelegramDoubleOptions {
  /** Loopback port; a free one when absent. */
  readonly port?: number;
  readonly botToken?: string;
  /** Flood limits; none when absent, `REAL_LIMITS` for about the real ones. */
  readonly limits?: FloodLimits;
  /** Milliseconds since 1970; decides dates and flood limits, not how long a poll waits. */
  readonly clock?: () => number;
  /** The real target of a webhook's calls: it must name an https address, which loopback has not. */
  readonly webhookTarget?: string;
  /** The form in which optional fields of the Bot API are sent; with its values when absent. */
  readonly optional?: Optional;
  /** It behaves as a server of one's own in local mode. */
  readonly localServer?: LocalServer;
  /** The picture of the bot; it has none when absent. */
  readonly picture?: Uint8Array<ArrayBuffer>;
  /** A path in front of `/bot<token>/…`, as behind a proxy, for example `/telegram`. */
  readonly pathPrefix?: string;
}

/** A running double: the wire on `apiRoot`, and what tests do to it and see of it. */
export interface TelegramDouble {
  readonly apiRoot: string;
  readonly token: string;
  readonly me: WireUser;
  readonly transcript: Transcript;
  /** A person writes. */
  say(saying: Saying): WireMessage;
  /** A person changes what they wrote. */
  reword(chatId: number, messageId: number, text: string, business?: string): void;
  /** A person connects the bot to their business account, or changes what it may do there. */
  connectBusiness(wish: Connecting): void;
  /** A person deletes messages in a chat of a business account. */
  deleteInBusiness(connection: string, chatId: number, messageIds: readonly number[]): void;
  /** The bot's answer as a guest. */
  guestAnswer(query: string): string | undefined;
  /** A person reacts to a message, or takes that back. */
  react(reaction: Reaction): void;
  /** A person presses a button; gives back the id of the query. */
  press(press: Press): string;
  /** A person presses the stop button of the newest draft in their chat; returns the id of the draft. */
  stopDraft(chatId: number): number;
  /** Whether the bot has answered a press. */
  pressAnswered(queryId: string): boolean;
  /** Queues an update of any kind, for example `callback_query`; gives back its id. */
  update(kind: string, content: unknown): number;
  /** Updates no poll has confirmed yet. */
  pendingUpdates(): readonly WireUpdate[];
  /** The visible messages of a chat, both ways, oldest first. */
  conversation(chatId: number, business?: string): VisibleMessage[];
  /** The calls of the bot, oldest first. */
  calls(method?: string): RecordedCall[];
  /** Unfinished texts shown by sendMessageDraft. */
  drafts(): readonly Draft[];
  /** A group becomes a supergroup; gives back the new id. */
  migrate(chatId: number): number;
  /** A person blocks the bot, a group throws it out or takes its right to write, or lets it in again. */
  setAccess(chatId: number, access: Access): void;
  /** A topic of a forum is closed, opened again or deleted. */
  setTopic(chatId: number, thread: number, state: 'open' | 'closed' | 'deleted'): void;
  /** A person becomes an administrator of a group. */
  promote(chatId: number, userId: number): void;
  /** Something goes wrong with the next matching call. */
  fault(fault: Fault): void;
  clearFaults(): void;
  /** Another program polls with the same token: the waiting poll ends with 409. */
  endPoll(): boolean;
  /** Cuts every connection, as a network that goes away. */
  dropConnections(): void;
  /** Resolves with the first answer of `look` that is neither undefined nor false. */
  waitFor<T>(look: () => T | undefined | false, timeoutMs?: number): Promise<T>;
  close(): Promise<void>;
}
