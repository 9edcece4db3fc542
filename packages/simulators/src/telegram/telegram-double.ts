import type { OptionalFieldMode } from '../optional-fields.ts';
import type { MessageDraft } from './account.ts';
import type { ConnectionChange } from './elsewhere.ts';
import type { Fault, FloodLimits } from './faults.ts';
import type { LocalServer } from './files.ts';
import type { ButtonPress, ChatAccess, PersonMessage, PersonReaction } from './people.ts';
import type { RecordedCall, Transcript, VisibleMessage } from './transcript.ts';
import type { WireMessage, WireUpdate, WireUser } from './wire.ts';

/** The options of a double; each has a default. */
export interface TelegramDoubleOptions {
  /** The loopback port; a free port when absent. */
  readonly port?: number;
  readonly botToken?: string;
  /**
   * Flood limits; none when absent. `REAL_LIMITS` contains an approximation of Telegram's limits.
   */
  readonly limits?: FloodLimits;
  /**
   * The double's clock, which returns the time in ms since 1970. The clock determines dates and
   * flood limits, but not how long a poll waits.
   */
  readonly clock?: () => number;
  /**
   * The actual destination of webhook calls, because a webhook must have an https URL, which
   * loopback cannot offer.
   */
  readonly webhookTarget?: string;
  /**
   * How optional fields of the Bot API are sent; they are included with their values when absent.
   */
  readonly optional?: OptionalFieldMode;
  /** Makes the double behave like a self-hosted server in local mode. */
  readonly localServer?: LocalServer;
  /** The bot's profile picture; none when absent. */
  readonly picture?: Uint8Array<ArrayBuffer>;
  /** A path prefix for `/bot<token>/…`, as behind a proxy, for example `/telegram`. */
  readonly pathPrefix?: string;
}

/** A running double: the address of its API, and the controls for tests. */
export interface TelegramDouble {
  readonly apiRoot: string;
  readonly token: string;
  readonly me: WireUser;
  readonly transcript: Transcript;
  say(saying: PersonMessage): WireMessage;
  reword(chatId: number, messageId: number, text: string, business?: string): void;
  /** Connects the bot to a person's business account or changes the bot's rights in it. */
  connectBusiness(wish: ConnectionChange): void;
  deleteInBusiness(connection: string, chatId: number, messageIds: readonly number[]): void;
  /** The bot's answer to a guest query. */
  guestAnswer(query: string): string | undefined;
  react(reaction: PersonReaction): void;
  press(press: ButtonPress): string;
  /** Presses the stop button of the newest draft in a chat and returns the id of the draft. */
  stopDraft(chatId: number): number;
  /** Whether the bot has answered a button press. */
  pressAnswered(queryId: string): boolean;
  /** Queues an update of any kind, for example `callback_query`, and returns its id. */
  update(kind: string, content: unknown): number;
  /** Updates that no poll has confirmed yet. */
  pendingUpdates(): readonly WireUpdate[];
  /** The visible messages of a chat in both directions, oldest first. */
  conversation(chatId: number, business?: string): VisibleMessage[];
  /** The bot's calls, oldest first. */
  calls(method?: string): RecordedCall[];
  drafts(): readonly MessageDraft[];
  migrate(chatId: number): number;
  /** Blocks, removes or mutes the bot in a chat, or restores its access. */
  setAccess(chatId: number, access: ChatAccess): void;
  /** Closes, reopens or deletes a topic of a forum. */
  setTopic(chatId: number, thread: number, state: 'open' | 'closed' | 'deleted'): void;
  /** Makes a person an administrator of a group. */
  promote(chatId: number, userId: number): void;
  /** Injects a fault into the next matching call. */
  fault(fault: Fault): void;
  clearFaults(): void;
  /** Ends the waiting poll with 409, as if another program polled with the same token. */
  endPoll(): boolean;
  /** Drops every connection, like a network failure. */
  dropConnections(): void;
  /**
   * Resolves with the first result of `look` that is neither undefined nor false; calls `look` on
   * every change.
   */
  waitFor<T>(look: () => T | undefined | false, timeoutMs?: number): Promise<T>;
  close(): Promise<void>;
}
