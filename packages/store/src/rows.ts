import {
  InboundMessage,
  type PartExtras,
  type RenderedPart,
  ReplyRoute,
  type StepFacts,
} from '@parley/core';
import { fromCheckedJson, type Sql, statement, toJson } from './database.ts';
import { NO_REF } from './files/byte-store.ts';
import type { NewPrompt } from './prompt-rows.ts';
import type { SpendAccount, TurnUsage } from './spend.ts';
import type { Row } from './tables.ts';

/** The freedom of the agent in a conversation (G04). Outlives `/new` and restarts. */
export type ConversationMode = 'agent' | 'ask' | 'plan';

/** An accepted inbound message, with the lane it belongs to and the route of its answer. */
export interface AdmittedMessage {
  readonly conversationId: string;
  readonly message: InboundMessage;
  readonly route: ReplyRoute;
  readonly receivedAt: number;
  /** An owner wrote it in a direct chat: decided by ingress, once and for good. */
  readonly fromOwner?: boolean;
  /** Why ingress took it, for `/why`. */
  readonly reason?: string;
  /** More of it may be on the way until then (ms): no turn takes it before (F08). */
  readonly settlesAt?: number;
  /** The trace it belongs to, in the form of `traceparent`; absent where traces are off. */
  readonly trace?: string | undefined;
  /** The bytes of its attachments, in their order, where they came with it; else they are fetched later. */
  readonly files?: readonly Uint8Array[];
}

/** A stored inbound message. `seq` grows in the order of storing and is the order of the lane. */
export interface InboxRow extends AdmittedMessage {
  readonly seq: number;
}

/** Bytes that are stored outside of the rows, all `size` of them. */
export interface FileRef {
  readonly id: string;
  readonly size: number;
}

/** A part of an answer before it has a row; ids and keys are given by the store. */
export interface NewPart extends PartExtras {
  readonly route: ReplyRoute;
  readonly body: RenderedPart;
  /** The stored bytes of `file`. They are stored before the transaction: see `PartWithBytes`. */
  readonly stored?: FileRef;
  readonly bytes?: never;
  /** It shows a notice of Parley itself: the next turn of this conversation knows it, as nobody's words (P18). */
  readonly notice?: { readonly conversationId: string; readonly text: string };
}

/** A part whose file is not stored yet. */
export interface PartWithBytes extends Omit<NewPart, 'bytes' | 'stored'> {
  /** Of `file`. */
  readonly bytes?: Uint8Array;
}

/** The right to work on one lane: every write of a turn is refused once the epoch has moved on. */
export interface Lease {
  readonly conversationId: string;
  /** Fencing token; grows with every acquisition and with every `/stop`. */
  readonly epoch: number;
}

/** One line of the model's history. `content` is the message as the model port defines it. */
export interface TranscriptEntry {
  readonly role: 'user' | 'assistant' | 'tool' | 'system';
  readonly content: unknown;
}

/** One finished step of a turn, kept so that a second run goes on after it (G16). */
export interface JournalStep {
  readonly index: number;
  readonly content: unknown;
  /** The call whose result this is: the record of its approval, if there is one, gets it, too. */
  readonly settles?: { readonly callKey: string; readonly failed: boolean };
  /** Its usage, and the account that it counts on: counted with the step, whatever becomes of the turn (G17). */
  readonly spends?: { readonly account: SpendAccount; readonly usage: TurnUsage };
  /** When it was started, in ms, and its facts for `/why`. */
  readonly timing?: { readonly startedAt: number; readonly facts: StepFacts };
}

/** A message of a group that did not address the bot, or one of Parley itself (`isOwnMessage`). `text` and `senderName` are untrusted. */
export interface GroupContextMessage {
  readonly messageId: string;
  readonly senderId: string;
  readonly senderName: string;
  readonly text: string;
}

/** The messages one turn answers. A resumed turn keeps its id, its messages and its finished steps. */
export interface ClaimedTurn {
  readonly turnId: string;
  readonly conversationId: string;
  /** Grows with `/new`; history of earlier sessions is not shown to the model. */
  readonly session: number;
  readonly resumed: boolean;
  /** The number of times this turn was started before; a turn that kills its worker must not run for ever. */
  readonly attempts: number;
  /** The number of these that made the process stand still; absent: none. */
  readonly hangs?: number;
  /** When its model was first away, in ms; absent: it never was. */
  readonly putOffSince?: number;
  readonly messages: readonly InboxRow[];
  /** The group's messages since its last turn, oldest first; the same whenever the turn is resumed. */
  readonly groupContext: readonly GroupContextMessage[];
  readonly steps: readonly JournalStep[];
  /** The present mode of the conversation; `agent` when absent. A turn that is resumed may find another one. */
  readonly mode?: ConversationMode;
  /** The same of the model; null or absent: that of the settings. */
  readonly model?: string | null;
}

/** The end of a turn; `silent` has no parts, `failed` has a notice for the person. */
export interface TurnCommit {
  readonly turnId: string;
  readonly outcome: 'answered' | 'silent' | 'failed';
  /** Why, for `failed` and `silent`. */
  readonly reason?: string;
  readonly entries: readonly TranscriptEntry[];
  readonly parts: readonly NewPart[];
  /** The answer is a plan: it may be run, once, until something newer is said (G04). */
  readonly isPlan?: boolean;
  readonly usage: TurnUsage | null;
  /** On whose account the usage is (G17), as far as its steps have not been counted. */
  readonly account?: SpendAccount;
  /** The trace of the turn, for its parts. */
  readonly trace?: string | undefined;
  /** The last step of its journal: the answer, which nothing has to come back to once it is committed. */
  readonly step?: JournalStep | undefined;
  /** The prompt of the model, for people (P17). */
  readonly prompt?: NewPrompt | undefined;
  /** The turn has no group context: nothing to delete. */
  readonly hadNoGroupContext?: boolean;
  /** Releases the lane in the same transaction if nothing waits in it. */
  readonly leaves?: boolean;
}

/** `fenced`: the lease was lost; nothing was written and the work must be thrown away. */
export type CommitResult = 'committed' | 'fenced';

/** The columns that make an `InboxRow`. */
export const INBOX_COLUMNS =
  'inbox.seq, inbox.conversation_id, message, route, received_at, from_owner, settles_at, inbox.trace';

/** A row of a query for `INBOX_COLUMNS`. */
export type MessageRow = Row<
  'inbox',
  | ('seq' | 'conversation_id' | 'message' | 'route')
  | ('received_at' | 'from_owner' | 'settles_at' | 'trace')
>;

/** A stored message as the other packages know it. Throws StoreError `store-damaged`. */
export function readInboxRow(row: MessageRow): InboxRow {
  return {
    seq: row.seq,
    conversationId: row.conversation_id,
    message: fromCheckedJson(InboundMessage, row.message, `message ${row.seq} of the inbox`),
    route: fromCheckedJson(ReplyRoute, row.route, `reply route of message ${row.seq}`),
    receivedAt: row.received_at,
    ...(row.from_owner === 1 ? { fromOwner: true } : {}),
    ...(row.settles_at === null ? {} : { settlesAt: row.settles_at }),
    ...(row.trace === null ? {} : { trace: row.trace }),
  };
}

/** The row of a message that just came in. */
export function newInboxRow(admitted: AdmittedMessage, state: 'waiting' | 'done') {
  const { message } = admitted;
  return {
    conversationId: admitted.conversationId,
    channel: message.channel,
    account: message.account,
    chatId: message.chat.id,
    messageId: message.messageId,
    message: toJson(withoutKeys(message)),
    route: toJson(admitted.route),
    receivedAt: admitted.receivedAt,
    state,
    outcome: state === 'done' ? 'command' : null,
    fromOwner: admitted.fromOwner === true ? 1 : 0,
    reason: admitted.reason ?? null,
    settlesAt: admitted.settlesAt ?? null,
    trace: admitted.trace ?? null,
  };
}

/** Inserts a row of `newInboxRow`. */
export const INSERT_MESSAGE = `
  insert into inbox (conversation_id, channel, account, chat_id, message_id, message, route,
    received_at, state, outcome, from_owner, reason, settles_at, trace)
  values (:conversationId, :channel, :account, :chatId, :messageId, :message, :route,
    :receivedAt, :state, :outcome, :fromOwner, :reason, :settlesAt, :trace)`;

const ADD = statement(INSERT_MESSAGE);

/** Puts a message that Parley itself writes into a lane. */
export function addMessage(sql: Sql, message: AdmittedMessage): void {
  sql.send(ADD, newInboxRow(message, 'waiting'));
}

/**
 * The outcome of a message: by its turn, by `/stop`, by its author, because it was a command, or by a later message.
 */
export type InboxOutcome = TurnCommit['outcome'] | 'stopped' | 'withdrawn' | 'command' | 'replaced';

/** The row of an attachment has what it takes to fetch it; the message itself is kept longer than a view-once file. */
export function withoutKeys(message: InboundMessage): InboundMessage {
  if (message.attachments?.some(({ viewOnce }) => viewOnce) !== true) return message;
  const attachments = message.attachments.map((one) =>
    one.viewOnce === true ? { ...one, ref: NO_REF } : one,
  );
  return { ...message, attachments };
}
