import {
  InboundMessage,
  type PartExtras,
  type RenderedPart,
  ReplyRoute,
  type StepFacts,
} from '@parley/core';
import { decodeCheckedJson, defineStatement, encodeJson, type Sql } from './database.ts';
import { NO_REF } from './files/byte-store.ts';
import type { NewPrompt } from './prompt-rows.ts';
import type { SpendAccount, TurnUsage } from './spend.ts';
import type { Row } from './tables.ts';

/** How freely the agent acts in a conversation (G04). Survives `/new` and restarts. */
export type ConversationMode = 'agent' | 'ask' | 'plan';

/** An accepted inbound message, with its lane and the route for its answer. */
export interface AdmittedMessage {
  readonly conversationId: string;
  readonly message: InboundMessage;
  readonly route: ReplyRoute;
  readonly receivedAt: number;
  /** Whether an owner wrote it in a direct chat; decided once, by ingress. */
  readonly fromOwner?: boolean;
  /** Why ingress accepted it, for `/why`. */
  readonly reason?: string;
  /** Until this time (ms), more pieces of it may arrive, so no turn takes it before then (F08). */
  readonly settlesAt?: number;
  /** Its trace in `traceparent` format; absent if tracing is off. */
  readonly trace?: string | undefined;
  /**
   * The bytes of its attachments in order, if they arrived with it; otherwise they are fetched
   * later.
   */
  readonly files?: readonly Uint8Array[];
}

/** A stored inbound message. `seq` grows in storage order and defines the order within the lane. */
export interface InboxRow extends AdmittedMessage {
  readonly seq: number;
}

/** Bytes stored outside the rows, all `size` of them. */
export interface FileRef {
  readonly id: string;
  readonly size: number;
}

/** A part of an answer before it has a row; the store assigns its id and key. */
export interface NewPart extends PartExtras {
  readonly route: ReplyRoute;
  readonly body: RenderedPart;
  /** The stored bytes of `file`. They are stored before the transaction; see `PartWithBytes`. */
  readonly stored?: FileRef;
  readonly bytes?: never;
  /**
   * Set if the part shows a notice from Parley itself: the conversation's next turn sees it as
   * written by no person (P18).
   */
  readonly notice?: { readonly conversationId: string; readonly text: string };
}

/** A part whose file is not stored yet. */
export interface PartWithBytes extends Omit<NewPart, 'bytes' | 'stored'> {
  /** The bytes of `file`. */
  readonly bytes?: Uint8Array;
}

/** The right to work on one lane. Every write of a turn is refused once the epoch has advanced. */
export interface Lease {
  readonly conversationId: string;
  /** Fencing token; grows with every acquisition and every `/stop`. */
  readonly epoch: number;
}

/** One entry in the model's history. `content` is the message as the model port defines it. */
export interface TranscriptEntry {
  readonly role: 'user' | 'assistant' | 'tool' | 'system';
  readonly content: unknown;
}

/** One finished turn step, stored so that a second run continues after it (G16). */
export interface JournalStep {
  readonly index: number;
  readonly content: unknown;
  /**
   * Set if this step is a call's result: the record of its approval, if any, receives it as well.
   */
  readonly settles?: { readonly callKey: string; readonly failed: boolean };
  /**
   * Its usage and the account to charge; counted with the step, whatever happens to the turn (G17).
   */
  readonly spends?: { readonly account: SpendAccount; readonly usage: TurnUsage };
  /** When it was started, in ms, and its facts for `/why`. */
  readonly timing?: { readonly startedAt: number; readonly facts: StepFacts };
}

/**
 * A group message that did not address the bot, or a message from Parley itself (`isOwnMessage`).
 * `text` and `senderName` are untrusted.
 */
export interface GroupContextMessage {
  readonly messageId: string;
  readonly senderId: string;
  readonly senderName: string;
  readonly text: string;
}

/**
 * The messages that one turn answers. A resumed turn keeps its id, its messages and its finished
 * steps.
 */
export interface ClaimedTurn {
  readonly turnId: string;
  readonly conversationId: string;
  /** Grows with `/new`; the model does not see the history of earlier sessions. */
  readonly session: number;
  readonly resumed: boolean;
  /**
   * How often this turn was started before, because a turn that crashes its worker must not run
   * forever.
   */
  readonly attempts: number;
  /** How many of these starts hung the process; absent if none did. */
  readonly hangs?: number;
  /** When its model first became unavailable, in ms; absent if it never did. */
  readonly putOffSince?: number;
  readonly messages: readonly InboxRow[];
  /**
   * The group's messages since its last turn, oldest first; the same each time the turn is resumed.
   */
  readonly groupContext: readonly GroupContextMessage[];
  readonly steps: readonly JournalStep[];
  /** The conversation's current mode; `agent` when absent. It may differ when a turn is resumed. */
  readonly mode?: ConversationMode;
  /**
   * The current model; null or absent for the model in the settings. It may differ when a turn is
   * resumed.
   */
  readonly model?: string | null;
}

/** How a turn ends. `silent` has no parts; `failed` has a notice for the person. */
export interface TurnCommit {
  readonly turnId: string;
  readonly outcome: 'answered' | 'silent' | 'failed';
  /** The reason, for `failed` and `silent`. */
  readonly reason?: string;
  readonly entries: readonly TranscriptEntry[];
  readonly parts: readonly NewPart[];
  /** Set if the answer is a plan, which may be run once until something newer is said (G04). */
  readonly isPlan?: boolean;
  readonly usage: TurnUsage | null;
  /** The account to charge for usage that its steps have not counted yet (G17). */
  readonly account?: SpendAccount;
  /** The turn's trace, for its parts. */
  readonly trace?: string | undefined;
  /**
   * The last step in its journal: the answer, which no run needs to resume from once it is
   * committed.
   */
  readonly step?: JournalStep | undefined;
  /** The prompt sent to the model, recorded for people (P17). */
  readonly prompt?: NewPrompt | undefined;
  /** Set if the turn has no group context, so there is nothing to delete. */
  readonly hadNoGroupContext?: boolean;
  /** Releases the lane in the same transaction if nothing waits in it. */
  readonly leaves?: boolean;
}

/** `fenced`: the lease was lost, nothing was written, and the work must be discarded. */
export type CommitResult = 'committed' | 'fenced';

/** The columns of an `InboxRow`. */
export const INBOX_COLUMNS =
  'inbox.seq, inbox.conversation_id, message, route, received_at, from_owner, settles_at, inbox.trace';

/** A row of a query for `INBOX_COLUMNS`. */
export type MessageRow = Row<
  'inbox',
  | ('seq' | 'conversation_id' | 'message' | 'route')
  | ('received_at' | 'from_owner' | 'settles_at' | 'trace')
>;

/**
 * Converts a stored message to the type used outside the store. Throws StoreError `store-damaged`.
 */
export function readInboxRow(row: MessageRow): InboxRow {
  return {
    seq: row.seq,
    conversationId: row.conversation_id,
    message: decodeCheckedJson(InboundMessage, row.message, `message ${row.seq} of the inbox`),
    route: decodeCheckedJson(ReplyRoute, row.route, `reply route of message ${row.seq}`),
    receivedAt: row.received_at,
    ...(row.from_owner === 1 ? { fromOwner: true } : {}),
    ...(row.settles_at === null ? {} : { settlesAt: row.settles_at }),
    ...(row.trace === null ? {} : { trace: row.trace }),
  };
}

/** The row for a message that has just arrived. */
export function toInboxRow(admitted: AdmittedMessage, state: 'waiting' | 'done') {
  const { message } = admitted;
  return {
    conversationId: admitted.conversationId,
    channel: message.channel,
    account: message.account,
    chatId: message.chat.id,
    messageId: message.messageId,
    message: encodeJson(stripAttachmentKeys(message)),
    route: encodeJson(admitted.route),
    receivedAt: admitted.receivedAt,
    state,
    outcome: state === 'done' ? 'command' : null,
    fromOwner: admitted.fromOwner === true ? 1 : 0,
    reason: admitted.reason ?? null,
    settlesAt: admitted.settlesAt ?? null,
    trace: admitted.trace ?? null,
  };
}

/** Inserts a row created by `toInboxRow`. */
export const INSERT_MESSAGE = `
  insert into inbox (conversation_id, channel, account, chat_id, message_id, message, route,
    received_at, state, outcome, from_owner, reason, settles_at, trace)
  values (:conversationId, :channel, :account, :chatId, :messageId, :message, :route,
    :receivedAt, :state, :outcome, :fromOwner, :reason, :settlesAt, :trace)`;

const ADD = defineStatement(INSERT_MESSAGE);

/** Adds a message that Parley itself writes to a lane. */
export function addMessage(sql: Sql, message: AdmittedMessage): void {
  sql.send(ADD, toInboxRow(message, 'waiting'));
}

/**
 * The outcome of a message: that of its turn, or the effect of `/stop`, its author, its being a
 * command, or a later message.
 */
export type InboxOutcome = TurnCommit['outcome'] | 'stopped' | 'withdrawn' | 'command' | 'replaced';

/**
 * Removes the keys needed to fetch attachments, which the attachment rows contain. The message is
 * kept longer than a view-once file.
 */
export function stripAttachmentKeys(message: InboundMessage): InboundMessage {
  if (message.attachments?.some(({ viewOnce }) => viewOnce) !== true) return message;
  const attachments = message.attachments.map((one) =>
    one.viewOnce === true ? { ...one, ref: NO_REF } : one,
  );
  return { ...message, attachments };
}
