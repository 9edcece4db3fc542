import type { ChatType } from '@parley/core';
import { type Approval, type ListedRow, readApprovalRow } from '../approval-rows.ts';
import type { ChatKey } from '../conversations.ts';
import { OF_CHAT } from '../conversations.ts';
import { defineStatement, type Sql } from '../database.ts';
import { findPersonalMessage, getChatTitle } from './list.ts';
import { readSaid } from './messages.ts';

/** An approval with readable names and complete, private texts. */
export interface ShownApproval extends Approval {
  readonly seq: number;
  /**
   * The author of the message that caused the call; null if Parley caused it, for example a job, or
   * if the message was forgotten.
   */
  readonly asker: string | null;
  /** The text of the message that caused the call. */
  readonly text: string;
  /** The chat in which the causing message was sent; null if the message was forgotten. */
  readonly chat: (ChatKey & { readonly title: string; readonly chatType: ChatType }) | null;
  /** The name of the person who decided, if one of their messages is stored. */
  readonly decider: string | null;
}

interface AskedRow extends ChatKey {
  readonly seq: number;
  readonly message: string;
}

/** Adds names to the given approval rows, keeping their order. */
export async function showApprovals(
  sql: Sql,
  rows: readonly ListedRow[],
): Promise<readonly ShownApproval[]> {
  const shown: ShownApproval[] = [];
  for (const { seq, ...row } of rows) {
    const approval = readApprovalRow(row);
    const asked = await sql.get(ASKED, { turnId: approval.turnId });
    shown.push({ ...approval, seq, ...(await readApprovalNames(sql, approval, asked)) });
  }
  return shown;
}

type ApprovalNames = Pick<ShownApproval, 'asker' | 'text' | 'chat' | 'decider'>;

async function readApprovalNames(
  sql: Sql,
  { conversationId, decidedAt }: Approval,
  asked: AskedRow | undefined,
): Promise<ApprovalNames> {
  if (asked === undefined) return { asker: null, text: '', chat: null, decider: null };
  const { seq, message, channel, account, chatId } = asked;
  const said = readSaid(message);
  const person = await findPersonalMessage(sql, { id: conversationId, message });
  const decided =
    decidedAt === null
      ? undefined
      : await sql.get(DECIDED, { channel, account, chatId, seq, decidedAt });
  return {
    asker: said?.trigger === undefined ? (said?.sender.name ?? null) : null,
    text: said?.typed ?? said?.text ?? '',
    chat: {
      ...{ channel, account, chatId },
      title: getChatTitle(person) ?? chatId,
      chatType: person?.chat.type ?? 'direct',
    },
    decider: decided === undefined ? null : (readSaid(decided.message)?.sender.name ?? null),
  };
}

const ASKED = defineStatement(`
  select seq, channel, account, chat_id as "chatId", message from inbox
  where turn_id = :turnId order by seq desc limit 1`).rows<AskedRow>();

// A command's time of receipt is the time of the decision.
const DECIDED = defineStatement(`
  select message from inbox
  where ${OF_CHAT} and seq > :seq and outcome = 'command' and received_at = :decidedAt
  order by seq limit 1`).rows<Pick<AskedRow, 'message'>>();
