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
import type { ChatStateBeforePart, MessageAnswer, StoredMessage } from '@parley/store';
import type { z } from 'zod';
import type { CommandInfo, CommandUses, MenuLimits } from './menu.ts';
import type { ChannelProbe, ProbeEnv } from './probe.ts';
import type { ChatsCapability, HistoryEntry } from './shown-chats.ts';

/** The state of a channel account, as `parley status`, `/readyz` and the start banner show it. */
export type ChannelState =
  | { readonly kind: 'starting' }
  /**
   * A person has to link the account with their phone first: the phone scans `code` as a QR code,
   * or the person types it there. The code is secret and expires.
   */
  | { readonly kind: 'pairing'; readonly code: string; readonly how: 'scan' | 'type' }
  /** `as` is the account's display name: `@my_bot` or an address. */
  | { readonly kind: 'connected'; readonly as: string }
  /** Another gateway, `holder`, is connected; this gateway takes over when `holder` shuts down. */
  | { readonly kind: 'standby'; readonly holder: string }
  | { readonly kind: 'retrying'; readonly reason: string; readonly nextAttemptAt: number }
  /** The account does not recover by itself; `fix` tells the operator what to do. */
  | { readonly kind: 'failed'; readonly reason: string; readonly fix: string }
  | { readonly kind: 'stopped' };

/** An edit or deletion of a message that a person had sent before. */
export type Revision =
  | { readonly kind: 'edited'; readonly message: InboundMessage }
  | { readonly kind: 'deleted'; readonly chatId: string; readonly messageId: string };

/** Facts about a message and its sender that an adapter looks up only on demand. */
export interface SenderFacts {
  /**
   * Whether the sender is an administrator of the message's group. A rejection or a timeout of a
   * few seconds counts as "no".
   */
  readonly isAdministrator?: ((signal: AbortSignal) => Promise<boolean>) | undefined;
  /**
   * The sender's roles, when the message itself does not contain them; requested only if the
   * settings admit people by role.
   */
  readonly roles?: ((signal: AbortSignal) => Promise<readonly string[]>) | undefined;
  /**
   * The group's messages just before this one, oldest first; read only when the message starts a
   * turn. Absent when the settings disable them or the core already has them.
   */
  readonly earlier?: ((signal: AbortSignal) => Promise<readonly InboundMessage[]>) | undefined;
  /**
   * True when the message starts a thread: earlier messages of the chat that no turn has used as
   * context become context of the thread.
   */
  readonly opensThread?: true | undefined;
}

/** An event that an adapter does not pass on. */
export interface IgnoredEvent {
  readonly chatId: string;
  readonly messageId: string;
  /** Absent when the platform itself is the author. */
  readonly senderId?: string | undefined;
  /** In ms since 1970. */
  readonly at: number;
}

/** The services that the core provides to an adapter. */
export interface ChannelContext<Settings> {
  readonly account: string;
  readonly settings: Settings;
  readonly log: Logger;
  readonly clock: Clock;
  readonly monotonic: Monotonic;
  /** Whether other gateways may serve this account at the same time (`servedByAll`). */
  readonly isShared?: boolean;
  /** Values that this account keeps across restarts. */
  readonly values: AdapterValues;
  /**
   * False once another gateway may serve this account. The check uses the clock, so it is correct
   * even after a stall, before any timer or signal has fired. Call this just before a request that
   * no row fences, such as a preview.
   */
  holdsAccount(): boolean;
  /**
   * Passes a message to ingress. Resolves once the message is durable or permanently refused: only
   * then may it be acknowledged to the platform (D01). Rejects when the message could not be
   * stored; do not acknowledge it then.
   */
  receive(
    message: InboundMessage,
    sender?: SenderFacts,
    /**
     * The bytes of the message's attachments, if the platform delivered them inline; they are
     * stored with the message, never fetched.
     */
    files?: readonly Uint8Array[],
  ): Promise<IngressOutcome>;
  /**
   * Records messages that were written while the account was offline and are skipped because there
   * are too many. Stores the reason for each message, for `why`, and counts the messages, for the
   * metrics. Rejects when the record could not be stored.
   */
  skipped(messages: readonly InboundMessage[], reason: string): Promise<void>;
  /**
   * Records an event that neither starts a turn nor reaches the agent, such as a platform's own
   * message about a chat. `parley why` can then state the reason (F16). Messages passed to
   * `receive` need no record.
   */
  ignored(event: IgnoredEvent, reason: string): Promise<void>;
  /**
   * Edits or deletes a message that is waiting for its turn; changes after the turn has started are
   * ignored.
   */
  revise(revision: Revision): Promise<void>;
  /**
   * Records a person's current reactions to a message. Never starts a turn; resolves when the
   * reactions are stored or ignored, and rejects when they could not be stored.
   */
  reacted(reaction: InboundReaction): Promise<void>;
  /**
   * Returns a stored message of a chat, including messages from before a restart; null when it was
   * never stored or has been deleted.
   */
  message(chatId: string, messageId: string): Promise<StoredMessage | null>;
  /** The available commands, for the platform's own menu (F09). */
  readonly commands: readonly CommandInfo[];
  /**
   * How often each command was typed recently, for a menu with too few entries for all commands.
   * Rejects when the counts cannot be read.
   */
  commandUses?(): Promise<CommandUses>;
  /**
   * Sends the owner a note, once per `key`, in the direct chat where they last wrote. Use it for
   * problems that only a person can fix or should know about.
   */
  notifyOwner(key: string, markdown: string): Promise<void>;
  /** Reports the state of the connection to the core. */
  report(state: ChannelState): void;
  /**
   * Returns at most `limit` messages of a chat, oldest first, for channels that render the chat
   * themselves.
   */
  history(chatId: string, limit: number): Promise<readonly HistoryEntry[]>;
  /**
   * Returns the outcome of a stored message and its answer, read from the tables; null when it is
   * not stored.
   */
  answer?(chatId: string, messageId: string): Promise<MessageAnswer | null>;
  /** Present only for channels that show several chats of one person. */
  readonly chats?: ChatsCapability | undefined;
}

/** Where to show typing and previews: the chat and, if there is one, the thread. */
export interface ChatAddress {
  readonly chatId: string;
  readonly threadId?: string | undefined;
  /** The message that a growing answer replies to, when the route quotes it. */
  readonly replyToMessageId?: string | undefined;
  readonly response?: string | undefined;
}

/**
 * An answer while it is being written. `show` renders the text so far as parts; an adapter without
 * viewers need not call it. Complete blocks keep their position, so usually only the last part
 * changes. The final answer replaces the whole preview, because its parts may be numbered and links
 * may resolve only at the end.
 */
export type GrowingAnswer = Pick<PrefixRenderer, 'show'>;

/** How often a preview is updated. */
export interface StreamPace {
  readonly minIntervalMs: number;
  /**
   * Answers completed within this time after their first text are not streamed; 0 when absent. In
   * ms.
   */
  readonly firstAfterMs?: number | undefined;
}

/**
 * Shows previews of unfinished answers. Called at most once per `minIntervalMs` and turn, never
 * concurrently.
 */
export interface StreamingCapability extends StreamPace {
  /**
   * The pace in this chat once an answer has this many characters of Markdown; null when an answer
   * of this length is not previewed. Without this function the pace is the same in all chats. An
   * update may use up part of the chat's rate limit, so an adapter can skip unnecessary ones.
   */
  pace?(address: ChatAddress, length: number): StreamPace | null;
  /**
   * The maximum length of a preview part, in the target's unit; the target's own limit when
   * undefined.
   */
  readonly maxLength?: number | undefined;
  /** After a tool call, the same turn starts a new answer from the beginning. */
  update(address: ChatAddress, turnId: string, answer: GrowingAnswer): Promise<void>;
  /**
   * Shows a tool call of the turn on platforms that display tools apart from the answer; called
   * several times per tool call.
   */
  call?(address: ChatAddress, turnId: string, call: LiveToolCall): void;
  /**
   * Called when the turn is over. `answer`: the answer arrives, or has arrived, through `send`.
   * `later`: another run will continue the turn. `nothing`: there will be no answer, so the preview
   * is removed.
   */
  end(address: ChatAddress, turnId: string, comes: 'answer' | 'later' | 'nothing'): Promise<void>;
}

/** Throttles callers of open routes that send wrong secrets. */
export interface SecretDoor {
  /**
   * Counts a wrong secret. Returns how many seconds its sender has to wait before the next attempt
   * is counted; 0 when the caller may be told that the secret is wrong. Compare the secret before
   * calling this: a caller with the correct secret never waits.
   */
  refuseWrong(): number;
}

/** Lets an adapter answer web requests below `/channels/<id>/<account>/`. */
export interface HttpCapability {
  /**
   * The adapter authenticates the caller itself, because a platform does not have a gateway token.
   */
  readonly open?: true;
  /** Origins whose pages may call the route and read its responses (CORS). */
  readonly origins?: readonly string[];
  /** `door` is present for routes without gateway authentication. */
  fetch(request: Request, door?: SecretDoor): Promise<Response>;
}

/** Fetches the attachments of people's messages. */
export interface FilesCapability {
  /** The largest file that the platform lets the bot fetch, in bytes. */
  readonly maxBytes: number;
  /**
   * Returns the bytes of an attachment by its `ref`. Throws only `ChannelError`. Stops once `limit`
   * bytes are exceeded.
   */
  fetch(ref: string, limit: number, signal: AbortSignal): Promise<Uint8Array>;
}

/**
 * Changes the bot's own messages and reacts to other people's. Each function throws only
 * `ChannelError`.
 */
export interface MessageCapability {
  /**
   * Replaces the text and removes all buttons: nobody may approve a text they have not read (G05).
   */
  edit?(address: ChatAddress, messageId: string, body: RenderedPart): Promise<void>;
  delete?(address: ChatAddress, messageId: string): Promise<void>;
  /** Undefined removes the reaction. */
  react?(address: ChatAddress, messageId: string, emoji: string | undefined): Promise<void>;
}

/**
 * One connected account of a platform. The optional objects must match the declared capabilities.
 */
export interface ChannelAdapter {
  readonly capabilities: Capabilities;
  /**
   * Starts connecting and returns immediately; progress is reported through `report`. Never throws
   * because of the network.
   */
  start(): Promise<void>;
  /**
   * Stops receiving, waits for handlers that are storing a message, and closes the connection.
   * Never throws.
   */
  stop(): Promise<void>;
  /**
   * Sends one message part. Throws only `ChannelError`. When the promise resolves, the part has
   * been sent, even if the receipt cannot be read; an account whose receipts are invalid several
   * times in a row is stopped. `onStart` must be called before the first byte is sent
   * (`reportsStart`). The signal fires after 15 s for a text and after 10 min for a file; an
   * adapter aborts an upload itself once no byte has moved in either direction for 15 s (D13).
   */
  send(part: OutboundPart, signal: AbortSignal, onStart?: () => void): Promise<Receipt>;
  /**
   * Searches the chat for a message part that a killed process may have sent, and returns the id of
   * its message. Undefined means that the part was not found, which proves nothing; null means that
   * the chat certainly does not contain the part, so it can be sent again. The search has no
   * visible effect in the chat.
   */
  findSent?(
    part: OutboundPart,
    before: ChatStateBeforePart,
    signal: AbortSignal,
  ): Promise<string | null | undefined>;
  /** The display names of a chat and its thread, for notes to the owner; undefined when unknown. */
  chatName?(address: ChatAddress): Promise<string | undefined>;
  /**
   * `send` calls `onStart`, so a message part without that call has not arrived, even after a
   * crash.
   */
  readonly reportsStart?: true;
  /** Shows "typing" once; the core repeats it every `typing.repeatMs` while the agent works. */
  readonly typing?: { readonly repeatMs: number; show(address: ChatAddress): Promise<void> };
  readonly streaming?: StreamingCapability;
  readonly files?: FilesCapability;
  readonly messages?: MessageCapability;
  readonly http?: HttpCapability;
}

/**
 * What a channel package exports. Importing the definition is cheap: only `load` imports the
 * platform's library (F03).
 */
export interface ChannelDefinition<Settings = unknown> {
  readonly id: string;
  /** The npm package that the settings name with `use`; absent for built-in and plugin channels. */
  readonly hosts?: string;
  /**
   * Validates the settings of one account. The schema's error messages complete the phrase "SETTING
   * must be", for example `an https address`.
   */
  readonly settings: z.ZodType<Settings>;
  /**
   * When false, strangers get no notice on this channel; an owner gets one instead (F05). True by
   * default.
   */
  readonly answersStrangers?: boolean;
  /**
   * The formats of the channel's ids, used to reject settings that can never match; when absent,
   * any text may be an id.
   */
  readonly ids?: ChannelIds;
  /** The limits of the platform's command menu; absent when there is no menu or no limit. */
  readonly menu?: MenuLimits;
  /**
   * Whether any number of gateways may serve an account at the same time. By default, only one
   * gateway serves an account (D09).
   */
  readonly servedByAll?: boolean;
  /**
   * Asks the platform once whether an account with these settings works; a gateway may be using the
   * account at the same time. A rejection indicates a bug. When absent, only starting the account
   * shows whether the settings work.
   */
  readonly probe?: (settings: unknown, env: ProbeEnv) => Promise<ChannelProbe>;
  load(): Promise<(context: ChannelContext<Settings>) => ChannelAdapter>;
}

/** The outcome of an inbound message; every path ends in exactly one of these (D08). */
export type IngressOutcome =
  /** The message is stored, and a turn will follow. */
  | {
      readonly kind: 'accepted';
      readonly conversationId: string;
      /**
       * The ids of the message and the parts that were replaced; empty when no replacement was
       * possible and this message became an ordinary one.
       */
      readonly replaced?: readonly string[];
    }
  /** The message was already stored, so nothing happens. */
  | { readonly kind: 'duplicate' }
  /** The message was a command, which was run or declined and answered without the model. */
  | {
      readonly kind: 'command';
      readonly name: string;
      /** The reason for declining the command, which is also sent to the chat. */
      readonly declined?: string;
      /** The approval question is decided, so its buttons have no effect. */
      readonly settled?: true;
      /** The text after the command waits for a turn, like a message. */
      readonly continues?: true;
    }
  /** The bot was not addressed, or no person wrote it. */
  | { readonly kind: 'ignored'; readonly reason: string }
  /**
   * The sender may not talk to the bot, or the message exceeds a limit. The text of a refused
   * message is not stored.
   */
  | {
      readonly kind: 'refused';
      readonly reason: string;
      /**
       * The exceeded limit (D07): the size of one message, the messages waiting in its
       * conversation, those of one person, or all waiting messages.
       */
      readonly bound?: 'size' | 'conversation' | 'person' | 'all';
    };
