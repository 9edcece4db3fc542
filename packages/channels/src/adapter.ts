import type {
  AdapterValues,
  Capabilities,
  ChannelIds,
  Clock,
  InboundMessage,
  InboundReaction,
  LiveToolCall,
  Logger,
  Monotonic,
  OutboundPart,
  Receipt,
  RenderedPart,
} from '@parley/core';
import type { PrefixRenderer } from '@parley/markup';
import type { BeforePart, MessageAnswer, StoredMessage } from '@parley/store';
import type { z } from 'zod';
import type { CommandInfo, CommandUses, MenuLimits } from './menu.ts';
import type { ChannelProbe, ProbeEnv } from './probe.ts';
import type { ChatsCapability, HistoryEntry } from './shown-chats.ts';

/** The state of a channel account, for `parley status`, `/readyz` and the start banner. */
export type ChannelState =
  | { readonly kind: 'starting' }
  /**
   * It waits to be linked with a person's phone, which scans `code` as a QR code, or on which it is typed. The
   * code changes, and is secret.
   */
  | { readonly kind: 'pairing'; readonly code: string; readonly how: 'scan' | 'type' }
  /** `as` names the account for people, `@my_bot` or an address. */
  | { readonly kind: 'connected'; readonly as: string }
  /** Another gateway, `holder`, is connected; this one takes over when that one ends. */
  | { readonly kind: 'standby'; readonly holder: string }
  | { readonly kind: 'retrying'; readonly reason: string; readonly nextAttemptAt: number }
  /** It does not recover by itself; `fix` says what a person must do. */
  | { readonly kind: 'failed'; readonly reason: string; readonly fix: string }
  | { readonly kind: 'stopped' };

/** An edit or deletion of a message that a person had sent before. */
export type Revision =
  | { readonly kind: 'edited'; readonly message: InboundMessage }
  | { readonly kind: 'deleted'; readonly chatId: string; readonly messageId: string };

/** Facts that an adapter can find out about a message and its sender, only when it is needed. */
export interface SenderFacts {
  /**
   * Whether the sender is an administrator of the message's group. It is given up after
   * some seconds; that and a rejection count as no. Absent: the platform has none.
   */
  readonly isAdministrator?: ((signal: AbortSignal) => Promise<boolean>) | undefined;
  /** The roles of the sender, where the message itself does not say; asked for only if roles decide who may write. */
  readonly roles?: ((signal: AbortSignal) => Promise<readonly string[]>) | undefined;
  /**
   * The group's messages just before this one, oldest first; read only when it gets a turn. Absent: the settings want
   * none, or the core has it.
   */
  readonly earlier?: ((signal: AbortSignal) => Promise<readonly InboundMessage[]>) | undefined;
}

/** An event that an adapter does not hand over; ids as the platform has them. */
export interface IgnoredEvent {
  readonly chatId: string;
  readonly messageId: string;
  /** Absent where the platform itself is the author. */
  readonly senderId?: string | undefined;
  /** When it happened, in ms since 1970. */
  readonly at: number;
}

/** The services of the core for an adapter. */
export interface ChannelContext<Settings> {
  readonly account: string;
  readonly settings: Settings;
  readonly log: Logger;
  readonly clock: Clock;
  readonly monotonic: Monotonic;
  /** Other gateways may serve this account at the same time (`servedByAll`). */
  readonly isShared?: boolean;
  /** Values that this account keeps between starts. */
  readonly values: AdapterValues;
  /**
   * False once another gateway may serve this account. Decided by the clock, so it is right also after a stall,
   * before any timer or signal has fired. Ask just before a request that no row fences: a preview.
   */
  holdsAccount(): boolean;
  /**
   * Hands a message to ingress. Resolves once it is durable or refused for good: only then may the
   * platform get a confirmation (D01). Rejects when it could not be stored: do not confirm it.
   */
  receive(
    message: InboundMessage,
    sender?: SenderFacts,
    /** The bytes of its attachments, where they came with it: stored with the message, never fetched. */
    files?: readonly Uint8Array[],
  ): Promise<IngressOutcome>;
  /**
   * Notes messages that were written while the account was away and are not handed over, because there are too
   * many: the reason of each for `why`, and their number for the metrics. Rejects when it could not be stored.
   */
  skipped(messages: readonly InboundMessage[], reason: string): Promise<void>;
  /**
   * Notes an event that starts no turn and says nothing to the agent: what the platform writes about a chat. `why`
   * then knows its reason (F16). Messages that go to `receive` need no note. Rejects when it could not be stored.
   */
  ignored(event: IgnoredEvent, reason: string): Promise<void>;
  /** A message that waits for its turn is changed or dropped; a later change is too late and ignored. */
  revise(revision: Revision): Promise<void>;
  /**
   * Takes a person's current reactions to a message. Never starts a turn; resolves when it is stored or ignored.
   * Rejects when it could not be stored.
   */
  reacted(reaction: InboundReaction): Promise<void>;
  /** A message of a chat as it is stored, also from before a restart; null: it is not, or not any more. */
  message(chatId: string, messageId: string): Promise<StoredMessage | null>;
  /** The commands there are, for the platform's own menu (F09). */
  readonly commands: readonly CommandInfo[];
  /**
   * The number of times each command was typed recently, for a menu without room for all. Rejects when that cannot be
   * read.
   */
  commandUses?(): Promise<CommandUses>;
  /**
   * Sends the owner a note, where they last wrote in a direct chat; once for each `key`. For what only a person
   * can do or should know.
   */
  notifyOwner(key: string, markdown: string): Promise<void>;
  /** Reports the state of the connection to the core. */
  report(state: ChannelState): void;
  /** The messages of a chat, oldest first, at most `limit` entries; for channels that show it themselves. */
  history(chatId: string, limit: number): Promise<readonly HistoryEntry[]>;
  /** A stored message's outcome and its answer, from the tables; null: it is not stored. */
  answer?(chatId: string, messageId: string): Promise<MessageAnswer | null>;
  /** For channels that show several chats of one person; absent where no page does. */
  readonly chats?: ChatsCapability | undefined;
}

/** A place to show a sign of life: the chat and, where there is one, the thread. */
export interface ChatAddress {
  readonly chatId: string;
  readonly threadId?: string | undefined;
  /** The message that a growing answer answers, where the route quotes it. */
  readonly replyToMessageId?: string | undefined;
  /** See `ReplyRoute`. */
  readonly response?: string | undefined;
}

/**
 * An answer while it is being written. `show` renders what has come so far, as parts; an adapter with
 * no viewer need not call it. Complete blocks keep their place, so mostly only the last part
 * changes. The finished answer still replaces all of it: it may have numbers, and links whose addresses
 * came last.
 */
export type GrowingAnswer = Pick<PrefixRenderer, 'show'>;

/** The pace at which an unfinished answer is shown. */
export interface StreamPace {
  readonly minIntervalMs: number;
  /** Answers that are complete sooner after their first text are not streamed; 0 when absent. In ms. */
  readonly firstAfterMs?: number | undefined;
}

/** Shows unfinished answers. Called at most once per `minIntervalMs` and turn, one call at a time. */
export interface StreamingCapability extends StreamPace {
  /**
   * The pace in this chat once so many characters of Markdown have come; null: nothing is shown of such an answer.
   * Without it the pace is the same everywhere. An update may take a part of the chat's rate, so none is asked for in vain.
   */
  pace?(address: ChatAddress, length: number): StreamPace | null;
  /** Longest part while an answer grows, in the target's unit; undefined: as the target says. */
  readonly maxLength?: number | undefined;
  /** After a tool call the same turn brings another answer, which starts from the beginning. */
  update(address: ChatAddress, turnId: string, answer: GrowingAnswer): Promise<void>;
  /** Shows a tool that the turn has called, where people see that apart from the answer; several times for one call. */
  call?(address: ChatAddress, turnId: string, call: LiveToolCall): void;
  /**
   * The turn is over. `answer`: it arrives, or has arrived, through `send`. `later`: a later run goes on.
   * `nothing`: there will be none, so what was shown is taken away.
   */
  end(address: ChatAddress, turnId: string, comes: 'answer' | 'later' | 'nothing'): Promise<void>;
}

/** Slows down callers of open routes who send wrong secrets. */
export interface SecretDoor {
  /**
   * Counts a wrong secret. Returns how long its sender has to wait before the next one is counted, in
   * seconds; 0: the caller may be told that it is wrong. Compare first: a right secret never waits.
   */
  refuseWrong(): number;
}

/** Lets an adapter answer web requests below `/channels/<id>/<account>/`. */
export interface HttpCapability {
  /** It checks who calls by itself: the platform does, which has no token of the gateway. */
  readonly open?: true;
  /** Pages of these origins may call it and read its answers (CORS). */
  readonly origins?: readonly string[];
  /** `door` is there for open routes. */
  fetch(request: Request, door?: SecretDoor): Promise<Response>;
}

/** Fetches what people sent. */
export interface FilesCapability {
  /** Largest file the platform lets the bot fetch, in bytes. */
  readonly maxBytes: number;
  /** The bytes of an attachment by its `ref`. Throws only `ChannelError`. Stops beyond `limit` bytes. */
  fetch(ref: string, limit: number, signal: AbortSignal): Promise<Uint8Array>;
}

/** Changes messages of the bot itself and reacts to others'. Each throws only `ChannelError`. */
export interface MessageCapability {
  /** Replaces the text and takes all buttons away: nobody may agree to a text they did not read (G05). */
  edit?(address: ChatAddress, messageId: string, body: RenderedPart): Promise<void>;
  delete?(address: ChatAddress, messageId: string): Promise<void>;
  /** Undefined takes the reaction back. */
  react?(address: ChatAddress, messageId: string, emoji: string | undefined): Promise<void>;
}

/** One connected account of one platform. The optional objects must match the declared capabilities. */
export interface ChannelAdapter {
  readonly capabilities: Capabilities;
  /** Starts to connect and returns; progress is reported through `report`. Never throws for a bad network. */
  start(): Promise<void>;
  /** Stops receiving, waits for handlers that are storing a message, closes. Never throws. */
  stop(): Promise<void>;
  /**
   * Sends one part. Throws only `ChannelError`; a resolved send has sent, also where its receipt cannot be read, and
   * an account whose receipts are wrong several times in a row is stopped. `onStart` is called before its first byte may leave
   * (`reportsStart`). The signal fires after 15 s for a text and after 10 min for a file; an adapter ends an
   * upload itself once no byte has moved in either direction for 15 s (D13).
   */
  send(part: OutboundPart, signal: AbortSignal, onStart?: () => void): Promise<Receipt>;
  /**
   * Looks whether a part is in its chat that a killed process may have sent; returns the id of its message.
   * Undefined: it was not found, which proves nothing. Changes nothing that people see.
   */
  findSent?(
    part: OutboundPart,
    before: BeforePart,
    signal: AbortSignal,
  ): Promise<string | undefined>;
  /** The names that people know a chat and its thread by, for notes to the owner; undefined where that is not known. */
  chatName?(address: ChatAddress): Promise<string | undefined>;
  /** `send` calls `onStart`: what it has not been called for did not arrive, also after a crash. */
  readonly reportsStart?: true;
  /** Shows "typing" once; the core repeats it every `typing.repeatMs` while the agent works. */
  readonly typing?: { readonly repeatMs: number; show(address: ChatAddress): Promise<void> };
  readonly streaming?: StreamingCapability;
  readonly files?: FilesCapability;
  readonly messages?: MessageCapability;
  readonly http?: HttpCapability;
}

/** The export of a channel package: cheap to import, the platform library comes with `load` only (F03). */
export interface ChannelDefinition<Settings = unknown> {
  readonly id: string;
  /** Checks one account's settings. An operator reads its error messages behind "SETTING must be": `an https address`. */
  readonly settings: z.ZodType<Settings>;
  /** False: strangers get no notice here; an owner gets it instead (F05). True by default. */
  readonly answersStrangers?: boolean;
  /** The forms of its ids, so that settings which can never match are refused; absent: any text may be one. */
  readonly ids?: ChannelIds;
  /** The limits of its menu of commands; absent: it has none, or one without limits. */
  readonly menu?: MenuLimits;
  /** True: any number of gateways may serve an account at the same time. By default one does (D09). */
  readonly servedByAll?: boolean;
  /**
   * Asks the platform once whether an account with these settings works, beside a gateway that may run on it.
   * Rejects for a defect of its own alone. Absent: only starting the account shows that.
   */
  readonly probe?: (settings: unknown, env: ProbeEnv) => Promise<ChannelProbe>;
  load(): Promise<(context: ChannelContext<Settings>) => ChannelAdapter>;
}

/** Outcome of an inbound message; every path ends in exactly one of these (D08). */
export type IngressOutcome =
  /** Stored; a turn will follow. */
  | {
      readonly kind: 'accepted';
      readonly conversationId: string;
      /** Ids of the message and the parts that it has replaced; empty: it asked for that, and is an ordinary one. */
      readonly replaced?: readonly string[];
    }
  /** Stored before; nothing new happens. */
  | { readonly kind: 'duplicate' }
  /** A command; it was run, or declined, and answered without the model. */
  | {
      readonly kind: 'command';
      readonly name: string;
      /** Why it was declined, for the sender; the chat gets the same text. */
      readonly declined?: string;
      /** The question is decided: buttons below the question do nothing any more. */
      readonly settled?: true;
      /** The words after it wait for a turn, as a message does. */
      readonly continues?: true;
    }
  /** The bot was not addressed, or no person wrote it. */
  | { readonly kind: 'ignored'; readonly reason: string }
  /** The sender may not talk to the bot, or the message breaks a limit; the text is not stored. */
  | {
      readonly kind: 'refused';
      readonly reason: string;
      /** The limit that it reaches (D07): of one message, of what waits in its conversation, of one person or in all. */
      readonly bound?: 'size' | 'conversation' | 'person' | 'all';
    };
