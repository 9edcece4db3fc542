import type { StartOptions } from '@parley/cli';

import type { TestParley } from '../../e2e/parley-here.ts';

/**
 * Where people talk to the bot: a direct chat, a group (or a channel of a server), or a thread in
 * one.
 */
export interface Place {
  /** Identifies this place, and no other, on its platform. */
  readonly id: string;
  readonly kind: 'direct' | 'group' | 'thread';
}

/** What a person writes. */
export interface Saying {
  readonly text: string;
  /** The author; the first person of the place when absent. */
  readonly from?: string;
  /** Whether the bot is mentioned, in the platform's way. */
  readonly mention?: boolean;
  /** The id of the message being replied to. */
  readonly replyTo?: string;
  /**
   * Small text files or pictures; several of them form an album, or the platform's closest
   * equivalent.
   */
  readonly files?: readonly ('document' | 'picture')[];
  /** Whether the author is another bot. */
  readonly bot?: boolean;
}

/** A message as people currently see it. */
export interface Seen {
  readonly id: string;
  readonly from: 'bot' | string;
  /** The text without markup. */
  readonly text: string;
  readonly replyTo?: string;
  /** Labels of the buttons below it; absent when there are none. */
  readonly buttons?: readonly string[];
}

/** The fault of the next thing that the bot sends to a place. */
export type Trouble =
  | 'rate-limited'
  | 'server-error'
  | 'format-refused'
  | 'lost-before'
  | 'lost-after'
  | 'thrown-out';

/** Abilities that not every platform has. */
export type Trait =
  /** Chats of one person with the bot. */
  | 'direct-chats'
  | 'groups'
  | 'threads'
  | 'albums'
  /** People can edit and delete what they wrote, and the bot learns it. */
  | 'edits'
  | 'deletes'
  /** The bot can edit what it has sent. */
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
  /** A second send with the same key is dropped, so nothing is ever uncertain. */
  | 'idempotent'
  | Trouble
  | 'twice'
  | 'out-of-order';

/** One platform as people see it, connected to the bot by its real wire format. */
export interface Peer {
  readonly channel: string;
  /**
   * A channel that is not built into Parley, and a program that includes it; the program is passed
   * the data folder.
   */
  readonly channels?: StartOptions['channels'];
  readonly program?: string;
  readonly traits: ReadonlySet<Trait>;
  /** The longest message of the platform, in UTF-16 units. */
  readonly longest: number;
  /** The account in the settings file. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** The bot's owner, as listed under `owners` in the settings, and their direct chat. */
  readonly owner: string;
  readonly ownerPlace: Place;
  /** Links the bot to its account, on platforms where each installation must be linked again. */
  link?(parley: TestParley): Promise<void>;
  /**
   * A new direct chat; on platforms without them, a place where only one person writes, who always
   * mentions the bot.
   */
  direct(): Place;
  /** A new group; on platforms without them, another direct chat. */
  group(): Place;
  /** A new thread beside others in a new group. */
  thread(): Place;
  /** A second person of a group. */
  other(place: Place): string;
  /** Makes a person an administrator of a group, in the platform's own terms. */
  promote?(place: Place, person: string): void;
  say(place: Place, saying: Saying): Promise<string>;
  edit(place: Place, messageId: string, text: string): Promise<void>;
  erase(place: Place, messageId: string): Promise<void>;
  /** A person presses a button below a message of the bot. */
  press?(place: Place, messageId: string, label: string, from: string): void;
  /** A person chooses from the menu below a message of the bot. */
  choose?(place: Place, messageId: string, label: string, from: string): void;
  /** A person presses a button that opens a form, and fills it in. */
  fillIn?(
    place: Place,
    messageId: string,
    label: string,
    answer: { from: string; words: string },
  ): Promise<void>;
  /** The messages people see in the place, oldest first. */
  seen(place: Place): readonly Seen[];
  trouble(place: Place, trouble: Trouble): void;
  /** The platform delivers the next message twice. */
  tellTwice(place: Place): void;
  /** The platform delivers the next two messages in the wrong order. */
  tellSwapped(): void;
  /** The platform sends something that makes the client library throw. */
  garble?(): void;
  /** The bot's connection breaks without notice. */
  disconnect(): void;
  /** Resolves with the first result of `look` that is neither undefined nor false. */
  waitFor<T>(look: () => T | undefined | false, timeoutMs?: number): Promise<T>;
  close(): Promise<void>;
}
