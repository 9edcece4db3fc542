import type { StartOptions } from '@parley/cli';

import type { TestParley } from '../../e2e/parley-here.ts';

/**
 * A location where people talk to the bot: a direct chat, a group (or a channel of a server), or a
 * thread in either.
 */
export interface ChatLocation {
  /** A unique id of the location on its platform. */
  readonly id: string;
  readonly kind: 'direct' | 'group' | 'thread';
}

/** A message to be written by a person. */
export interface PersonMessage {
  readonly text: string;
  /** The author; by default the first person of the location. */
  readonly from?: string;
  /** Whether the message mentions the bot in the platform's own way. */
  readonly mention?: boolean;
  /** The id of the message being replied to. */
  readonly replyTo?: string;
  /**
   * Small text files or pictures; several of them form an album, or the closest equivalent on the
   * platform.
   */
  readonly files?: readonly ('document' | 'picture')[];
  /** Whether the author is another bot. */
  readonly bot?: boolean;
}

/** A message as people currently see it. */
export interface VisibleMessage {
  readonly id: string;
  readonly from: 'bot' | string;
  /** The text without markup. */
  readonly text: string;
  readonly replyTo?: string;
  /** The labels of the buttons below the message; absent when there are none. */
  readonly buttons?: readonly string[];
}

/** A fault that affects the next message from the bot to a location. */
export type SendFault =
  | 'rate-limited'
  | 'server-error'
  | 'format-refused'
  | 'lost-before'
  | 'lost-after'
  | 'thrown-out';

/** Abilities that not every platform has. */
export type PlatformTrait =
  /** Chats between one person and the bot. */
  | 'direct-chats'
  | 'groups'
  | 'threads'
  | 'albums'
  /** People can edit and delete their messages, and the platform reports it to the bot. */
  | 'edits'
  | 'deletes'
  /** The bot can edit its messages. */
  | 'bot-edits'
  | 'documents'
  | 'bots'
  | 'quotes'
  | 'buttons'
  /** Many choices form a menu, and free text is entered in a form. */
  | 'forms'
  | 'administrators'
  /** Plain text can ping people. */
  | 'pings'
  /** A second send with the same key is dropped, so the outcome of a send is never uncertain. */
  | 'idempotent'
  | SendFault
  | 'twice'
  | 'out-of-order';

/** A simulated platform as people see it, connected to the bot through its real protocol. */
export interface PlatformPeer {
  readonly channel: string;
  /**
   * A channel that is not built in, with a program that includes it and takes the data folder as
   * its argument.
   */
  readonly channels?: StartOptions['channels'];
  readonly program?: string;
  readonly traits: ReadonlySet<PlatformTrait>;
  /** The maximum length of a message, in UTF-16 units. */
  readonly longest: number;
  /** The account settings. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** The owner as listed under `owners` in the settings, with their direct chat. */
  readonly owner: string;
  readonly ownerPlace: ChatLocation;
  /** Links the bot to its account, on platforms where each installation must be linked again. */
  link?(parley: TestParley): Promise<void>;
  /**
   * Creates a direct chat or, on platforms without them, a chat where only one person writes, who
   * always mentions the bot.
   */
  direct(): ChatLocation;
  /** Creates a group or, on platforms without groups, another direct chat. */
  group(): ChatLocation;
  /** Creates a thread next to other threads in a new group. */
  thread(): ChatLocation;
  /** The second person of a group. */
  other(place: ChatLocation): string;
  /** Makes a person an administrator of a group, as the platform defines it. */
  promote?(place: ChatLocation, person: string): void;
  say(place: ChatLocation, saying: PersonMessage): Promise<string>;
  edit(place: ChatLocation, messageId: string, text: string): Promise<void>;
  erase(place: ChatLocation, messageId: string): Promise<void>;
  /** Presses a button below one of the bot's messages. */
  press?(place: ChatLocation, messageId: string, label: string, from: string): void;
  /** Selects from the menu below one of the bot's messages. */
  choose?(place: ChatLocation, messageId: string, label: string, from: string): void;
  /** Presses a button that opens a form, and fills in the form. */
  fillIn?(
    place: ChatLocation,
    messageId: string,
    label: string,
    answer: { from: string; words: string },
  ): Promise<void>;
  /** The messages visible to people in the location, oldest first. */
  seen(place: ChatLocation): readonly VisibleMessage[];
  trouble(place: ChatLocation, trouble: SendFault): void;
  /** Makes the platform deliver the next message twice. */
  tellTwice(place: ChatLocation): void;
  /** Makes the platform deliver the next two messages in the wrong order. */
  tellSwapped(): void;
  /** Makes the platform send an event that makes the client library throw. */
  garble?(): void;
  /** Breaks the bot's connection without notice. */
  disconnect(): void;
  /** Resolves with the first result of `look` that is neither undefined nor false. */
  waitFor<T>(look: () => T | undefined | false, timeoutMs?: number): Promise<T>;
  close(): Promise<void>;
}
