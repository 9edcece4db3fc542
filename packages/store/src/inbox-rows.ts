import { InboundMessage, ReplyRoute } from '@parley/contracts';
import type { Generated, Insertable, Selectable } from 'kysely';
import { fromCheckedJson, toJson } from './json-column.ts';
import type { AdmittedMessage, InboxRow, TurnCommit } from './rows.ts';
import type { Seq } from './tables.ts';

/** The columns that make an `InboxRow`. */
export const INBOX_COLUMNS = [
  'seq',
  'conversation_id',
  'message',
  'route',
  'received_at',
  'from_owner',
  'settles_at',
  'trace',
] as const;

/** A stored message as the other packages know it. Throws StoreError `store-damaged`. */
export function readInboxRow(
  row: Pick<Selectable<InboxTable>, (typeof INBOX_COLUMNS)[number]>,
): InboxRow {
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
    conversation_id: admitted.conversationId,
    channel: message.channel,
    account: message.account,
    chat_id: message.chat.id,
    message_id: message.messageId,
    message: toJson(message),
    route: toJson(admitted.route),
    received_at: admitted.receivedAt,
    state,
    outcome: state === 'done' ? 'command' : null,
    from_owner: admitted.fromOwner === true ? 1 : 0,
    reason: admitted.reason ?? null,
    settles_at: admitted.settlesAt ?? null,
    trace: admitted.trace ?? null,
  } satisfies Insertable<InboxTable>;
}

/** Inbound messages; `message` and `route` are JSON. */
export interface InboxTable {
  seq: Seq;
  conversation_id: string;
  channel: string;
  account: string;
  chat_id: string;
  message_id: string;
  message: string;
  route: string;
  received_at: number;
  state: 'waiting' | 'claimed' | 'done';
  turn_id: Generated<string | null>;
  outcome: Generated<InboxOutcome | null>;
  /** 1: an owner wrote it in a direct chat. */
  from_owner: Generated<number>;
  /** Why ingress took it. */
  reason: Generated<string | null>;
  /** When its burst is over and a turn may take it; null: at once. */
  settles_at: Generated<number | null>;
  /** How often its turn was ended by a later message. */
  interruptions: Generated<number>;
  /** When its turn took it. */
  claimed_at: Generated<number | null>;
  /** When it was set aside or withdrawn; of all others their turn knows. */
  done_at: Generated<number | null>;
  /** How often the platform told of it again. */
  repeats: Generated<number>;
  /** The trace it belongs to, in the form of `traceparent`. */
  trace: Generated<string | null>;
}

/** How a message ended: by its turn, by `/stop`, by its author, or because it was a command. */
export type InboxOutcome = TurnCommit['outcome'] | 'stopped' | 'withdrawn' | 'command';
