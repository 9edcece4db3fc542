import {
  InboundMessage,
  type PartExtras,
  type RenderedPart,
  ReplyRoute,
  type StepInfo,
} from '@parley/core';
import { decodeCheckedJson, defineStatement, encodeJson, type Sql } from './database.ts';
import { NO_REF } from './files/byte-store.ts';
import type { NewPrompt } from './prompt-rows.ts';
import type { SpendAccount, TurnUsage } from './spend.ts';
import type { Row } from './tables.ts';

/**
 * What replaces removed text in rows that have to stay: `deleted` in deleted conversations,
 * `forgotten` everywhere else. A search does not find these placeholders.
 */
export const MARKS = { deleted: '[deleted]', forgotten: '[forgotten]' } as const;

/** How freely the agent acts in a conversation (G04); the mode survives `/new` and restarts. */
export type ConversationMode = 'agent' | 'ask' | 'plan';

/** An accepted inbound message, with its lane and the route for its answer. */
export interface AdmittedMessage {
  readonly conversationId: string;
  readonly message: InboundMessage;
  readonly route: ReplyRoute;
  readonly receivedAt: number;
  /** Whether an owner wrote the message in a direct chat; ingress decides this once. */
  readonly fromOwner?: boolean;
  /** Why ingress accepted the message, for `/why`. */
  readonly reason?: string;
  /**
   * Until this time (ms), more pieces of the message may arrive, so no turn claims it earlier
   * (F08).
   */
  readonly settlesAt?: number;
  /** The message's trace in `traceparent` format; absent if tracing is off. */
  readonly trace?: string | undefined;
  /**
   * The bytes of the attachments in order, if they arrived with the message; otherwise they are
   * fetched later.
   */
  readonly files?: readonly Uint8Array[];
}

/** A stored inbound message; `seq` grows in storage order and defines the order within the lane. */
export interface InboxRow extends AdmittedMessage {
  readonly seq: number;
}

/** A reference to `size` bytes stored outside the rows. */
export interface FileRef {
  readonly id: string;
  readonly size: number;
}

/** A part of an answer before it has a row; the store assigns its id and key. */
export interface NewPart extends PartExtras {
  readonly route: ReplyRoute;
  readonly body: RenderedPart;
  /** The bytes of `file`, stored before the transaction; see `PartWithBytes`. */
  readonly stored?: FileRef;
  readonly bytes?: never;
  /**
   * Set if the part shows a notice from Parley itself; the conversation's next turn then sees the
   * notice as written by nobody (P18).
   */
  readonly notice?: { readonly conversationId: string; readonly text: string };
}

/** A part whose file is not stored yet. */
export interface PartWithBytes extends Omit<NewPart, 'bytes' | 'stored'> {
  /** The bytes of `file`. */
  readonly bytes?: Uint8Array;
}

/** The right to work on one lane; writes of a turn are refused once the epoch has advanced. */
export interface Lease {
  readonly conversationId: string;
  /** Fencing token, which grows with every acquisition and every `/stop`. */
  readonly epoch: number;
}

/** One entry in the model's history; `content` is the message as the model port defines it. */
export interface TranscriptEntry {
  readonly role: 'user' | 'assistant' | 'tool' | 'system';
  readonly content: unknown;
}

/** One finished turn step, stored so that a second run continues after it (G16). */
export interface JournalStep {
  readonly index: number;
  readonly content: unknown;
  /**
   * Set if this step is the result of a tool call; the result is also recorded with the call's
   * approval.
   */
  readonly settles?: { readonly callKey: string; readonly failed: boolean };
  /** The step's usage and the account to charge; it counts even if the turn fails (G17). */
  readonly spends?: { readonly account: SpendAccount; readonly usage: TurnUsage };
  /** When the step was started, in ms, with details for `/why`. */
  readonly timing?: { readonly startedAt: number; readonly facts: StepInfo };
}

/**
 * A group message that did not address the bot, or a message from Parley itself (`isBotMessage`).
 * `text` and `senderName` are untrusted.
 */
export interface GroupContextMessage {
  readonly messageId: string;
  readonly senderId: string;
  readonly senderName: string;
  readonly text: string;
}

/** The messages that one turn answers; a resumed turn keeps its id, messages and finished steps. */
export interface ClaimedTurn {
  readonly turnId: string;
  readonly conversationId: string;
  /**
   * The session number, which grows with `/new`; the model does not see the history of earlier
   * sessions.
   */
  readonly session: number;
  readonly resumed: boolean;
  /**
   * How often this turn was started before, because a turn that crashes its worker must not run
   * forever.
   */
  readonly attempts: number;
  /** The number of these starts that hung the process; absent if none did. */
  readonly hangs?: number;
  /** When the turn's model first became unavailable, in ms; absent if it never did. */
  readonly putOffSince?: number;
  readonly messages: readonly InboxRow[];
  /**
   * The group's messages since its last turn, oldest first; they stay the same when the turn is
   * resumed.
   */
  readonly groupContext: readonly GroupContextMessage[];
  readonly steps: readonly JournalStep[];
  /** The tool groups that the session has opened, in that order; none when absent. */
  readonly openToolGroups?: readonly string[];
  /**
   * The conversation's current mode, which may differ when a turn is resumed; `agent` when absent.
   */
  readonly mode?: ConversationMode;
  /**
   * The current model, which may differ when a turn is resumed; null or absent for the model in the
   * settings.
   */
  readonly model?: string | null;
}

/** How a turn ends: `silent` has no parts, `failed` has a notice for the person. */
export interface TurnCommit {
  readonly turnId: string;
  readonly outcome: 'answered' | 'silent' | 'failed';
  /** Why the turn failed or stayed silent. */
  readonly reason?: string;
  readonly entries: readonly TranscriptEntry[];
  readonly parts: readonly NewPart[];
  /** Set if the answer is a plan, which may be run once until a newer message arrives (G04). */
  readonly isPlan?: boolean;
  readonly usage: TurnUsage | null;
  /** The account to charge for usage that the turn's steps have not counted yet (G17). */
  readonly account?: SpendAccount;
  /** The turn's trace, for its parts. */
  readonly trace?: string | undefined;
  /**
   * The last step in the turn's journal, which contains the answer; once it is committed, no run
   * resumes from it.
   */
  readonly step?: JournalStep | undefined;
  /** The prompt sent to the model, recorded for people (P17). */
  readonly prompt?: NewPrompt | undefined;
  /** Set if the turn does not have group context to delete. */
  readonly hadNoGroupContext?: boolean;
  /** Releases the lane in the same transaction if no messages are waiting in it. */
  readonly leaves?: boolean;
}

/** `fenced`: the lease was lost, nothing was written, and the work must be discarded. */
export type CommitResult = 'committed' | 'fenced';

export const INBOX_COLUMNS =
  'inbox.seq, inbox.conversation_id, message, route, received_at, from_owner, settles_at, inbox.trace';

export type MessageRow = Row<
  'inbox',
  | ('seq' | 'conversation_id' | 'message' | 'route')
  | ('received_at' | 'from_owner' | 'settles_at' | 'trace')
>;

/**
 * Converts a stored message to the type used outside the store; throws StoreError `store-damaged`.
 */
export function readInboxRow(row: MessageRow): InboxRow {
  return {
    seq: row.seq,
    conversationId: row.conversation_id,
    message: decodeCheckedJson(InboundMessage, row.message, `inbox message ${row.seq}`),
    route: decodeCheckedJson(ReplyRoute, row.route, `reply route of message ${row.seq}`),
    receivedAt: row.received_at,
    ...(row.from_owner === 1 ? { fromOwner: true } : {}),
    ...(row.settles_at === null ? {} : { settlesAt: row.settles_at }),
    ...(row.trace === null ? {} : { trace: row.trace }),
  };
}

/** Builds the row for a message that has just arrived. */
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

/** Adds a message from Parley itself to a lane. */
export function addMessage(sql: Sql, message: AdmittedMessage): void {
  sql.send(ADD, toInboxRow(message, 'waiting'));
}

/**
 * The outcome of a message: that of its turn, or the reason why it had none (`/stop`, withdrawn by
 * its author, a command, replaced by a later message).
 */
export type InboxOutcome = TurnCommit['outcome'] | 'stopped' | 'withdrawn' | 'command' | 'replaced';

/**
 * Removes the keys needed to fetch attachments; attachment rows contain these keys. A message is
 * kept longer than a view-once file.
 */
export function stripAttachmentKeys(message: InboundMessage): InboundMessage {
  if (message.attachments?.some(({ viewOnce }) => viewOnce) !== true) return message;
  const attachments = message.attachments.map((one) =>
    one.viewOnce === true ? { ...one, ref: NO_REF } : one,
  );
  return { ...message, attachments };
}
