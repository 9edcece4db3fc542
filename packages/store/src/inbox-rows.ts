import { InboundMessage, ReplyRoute } from '@parley/core';
import { fromCheckedJson, type Sql, statement, toJson } from './database.ts';
import type { AdmittedMessage, InboxRow, TurnCommit } from './rows.ts';

/** The columns that make an `InboxRow`. */
export const INBOX_COLUMNS =
  'inbox.seq, inbox.conversation_id, message, route, received_at, from_owner, settles_at, inbox.trace';

/** What a query for `INBOX_COLUMNS` gives. */
export interface MessageRow {
  readonly seq: number;
  readonly conversation_id: string;
  readonly message: string;
  readonly route: string;
  readonly received_at: number;
  readonly from_owner: number;
  readonly settles_at: number | null;
  readonly trace: string | null;
}

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
    message: toJson(message),
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

/** How a message ended: by its turn, by `/stop`, by its author, or because it was a command. */
export type InboxOutcome = TurnCommit['outcome'] | 'stopped' | 'withdrawn' | 'command';
