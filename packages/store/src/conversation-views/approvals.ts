import type { ChatType } from '@parley/core';
import { type Approval, type NumberedApprovalRow, readApprovalRow } from '../approval-rows.ts';
import type { ChatKey } from '../conversations.ts';
import { defineStatement, encodeJson, type Sql } from '../database.ts';
import { buildByPersonColumn, findPersonalMessage, getChatTitle, TRIGGER } from './list.ts';
import { parseInboundMessage } from './messages.ts';

/** An approval with readable names and unabridged private text. */
export interface ApprovalView extends Approval {
  readonly seq: number;
  /**
   * The author of the message that caused the call; null if Parley caused it, for example through a
   * job, or if the message was forgotten.
   */
  readonly asker: string | null;
  /** The text of the message that caused the call. */
  readonly text: string;
  /** The chat in which the causing message was sent; null if the message was forgotten. */
  readonly chat: (ChatKey & { readonly title: string; readonly chatType: ChatType }) | null;
  /** The name of the person who decided, if one of their messages is stored. */
  readonly decider: string | null;
}

/** Adds names to the given approval rows, keeping their order. */
export async function toApprovalViews(
  sql: Sql,
  rows: readonly NumberedApprovalRow[],
): Promise<readonly ApprovalView[]> {
  const seqs = encodeJson(rows.map(({ seq }) => seq));
  const asked = new Map(
    (await sql.all(ASKED, { seqs, ...TRIGGER })).map((row) => [row.approval, row]),
  );
  return rows.map(({ seq, ...row }) => {
    return { ...readApprovalRow(row), seq, ...toApprovalNames(asked.get(seq)) };
  });
}

/** What is known about the message that caused a call. */
interface CallOriginRow extends ChatKey {
  readonly approval: number;
  readonly message: string;
  readonly byPerson: string | null;
  /** The message of the person who decided. */
  readonly decision: string | null;
}

type ApprovalNames = Pick<ApprovalView, 'asker' | 'text' | 'chat' | 'decider'>;

function toApprovalNames(asked: CallOriginRow | undefined): ApprovalNames {
  if (asked === undefined) return { asker: null, text: '', chat: null, decider: null };
  const { message, decision, channel, account, chatId } = asked;
  const said = parseInboundMessage(message);
  const person = findPersonalMessage(asked);
  return {
    asker: said?.trigger === undefined ? (said?.sender.name ?? null) : null,
    text: said?.typed ?? said?.text ?? '',
    chat: {
      ...{ channel, account, chatId },
      title: getChatTitle(person) ?? chatId,
      chatType: person?.chat.type ?? 'direct',
    },
    decider: decision === null ? null : (parseInboundMessage(decision)?.sender.name ?? null),
  };
}

// A command takes effect as of the time it was received.
const ASKED = defineStatement(`
  select approval.seq as approval, inbox.channel, inbox.account, inbox.chat_id as "chatId",
    inbox.message,
    ${buildByPersonColumn('approval.conversation_id')},
    (select decides.message from inbox as decides where decides.channel = inbox.channel
      and decides.account = inbox.account and decides.chat_id = inbox.chat_id
      and decides.seq > inbox.seq and decides.outcome = 'command'
      and decides.received_at = approval.decided_at order by decides.seq limit 1) as decision
  from approval join inbox on inbox.seq = (select max(asked.seq) from inbox as asked
    where asked.turn_id = approval.turn_id)
  where approval.seq in (select cast(value as bigint) from json_each(:seqs))`).rows<CallOriginRow>();
