import type { StartOptions } from '@parley/cli';

import type { TestParley } from '../../e2e/parley-here.ts';

/** Where people talk to the bot: a direct chat, a group (or channel of a server), a thread in one. */
export interface Place {
  /** Names the place on its platform, and nothing else there. */
  readonly id: string;
  readonly kind: 'direct' | 'group' | 'thread';
}

/** What somebody writes. */
export interface Saying {
  readonly text: string;
  /** Who; the first person of the place when absent. */
  readonly from?: string;
  /** The bot is mentioned, as people do it there. */
  readonly mention?: boolean;
  /** Id of the message it answers. */
  readonly replyTo?: string;
  /** Small text files or pictures; several are an album, or as near as the platform has it. */
  readonly files?: readonly ('document' | 'picture')[];
  /** Its author is another bot. */
  readonly bot?: boolean;
}

/** A message as people see it now. */
export interface Seen {
  readonly id: string;
  readonly from: 'bot' | string;
  /** Without markup. */
  readonly text: string;
  readonly replyTo?: string;
  /** Labels of the buttons below it; absent: none. */
  readonly buttons?: readonly string[];
}

/** What goes wrong with the next thing the bot sends to a place. */
export type Trouble =
  | 'rate-limited'
  | 'server-error'
  | 'format-refused'
  | 'lost-before'
  | 'lost-after'
  | 'thrown-out';

/** What not every platform has. */
export type Trait =
  | 'threads'
  | 'albums'
  | 'edits'
  | 'deletes'
  | 'documents'
  | 'bots'
  | 'quotes'
  | 'buttons'
  /** Many choices are a menu, and words are written into a form. */
  | 'forms'
  | 'administrators'
  /** Text alone can ping people. */
  | 'pings'
  /** A second send with the same key is dropped: nothing is ever uncertain. */
  | 'idempotent'
  | Trouble
  | 'twice'
  | 'out-of-order';

/** One platform as people see it, with a bot on the other side of the real wire. */
export interface Peer {
  readonly channel: string;
  /** The channel where Parley itself does not know it, and a program that does; it is given the data folder. */
  readonly channels?: StartOptions['channels'];
  readonly program?: string;
  readonly traits: ReadonlySet<Trait>;
  /** Longest message of the platform, in UTF-16 units. */
  readonly longest: number;
  /** The account in the settings file. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** The bot's owner, as `owners` in the settings names them, and their direct chat. */
  readonly owner: string;
  readonly ownerPlace: Place;
  /** A person lets the bot have its account, where that is done anew for each installation. */
  link?(parley: TestParley): Promise<void>;
  direct(): Place;
  group(): Place;
  /** A new thread beside others in a new group. */
  thread(): Place;
  /** A second person of a group. */
  other(place: Place): string;
  /** Makes a person an administrator of a group, as its platform understands that. */
  promote?(place: Place, person: string): void;
  say(place: Place, saying: Saying): Promise<string>;
  edit(place: Place, messageId: string, text: string): Promise<void>;
  erase(place: Place, messageId: string): Promise<void>;
  /** Somebody presses a button below a message of the bot, where there are any. */
  press?(place: Place, messageId: string, label: string, from: string): void;
  /** Somebody chooses from the menu below a message of the bot. */
  choose?(place: Place, messageId: string, label: string, from: string): void;
  /** Somebody presses a button that opens a form, and writes into it. */
  fillIn?(
    place: Place,
    messageId: string,
    label: string,
    answer: { from: string; words: string },
  ): Promise<void>;
  /** What people see in the place, oldest first. */
  seen(place: Place): readonly Seen[];
  trouble(place: Place, trouble: Trouble): void;
  /** The platform tells the bot of the next message twice. */
  tellTwice(place: Place): void;
  /** The platform tells the bot of the next two messages in the wrong order. */
  tellSwapped(): void;
  /** The platform sends something that the client library itself throws over. */
  garble?(): void;
  /** The bot's connection breaks without a word. */
  disconnect(): void;
  /** Resolves with the first answer of `look` that is neither undefined nor false. */
  waitFor<T>(look: () => T | undefined | false, timeoutMs?: number): Promise<T>;
  close(): Promise<void>;
}
