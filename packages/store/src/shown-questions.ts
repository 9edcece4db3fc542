import type { InboundMessage } from '@parley/core';
import { type Approval, readApprovalRow } from './approval-rows.ts';
import { OPEN_IN } from './approvals.ts';
import { OF_CHAT } from './conversations.ts';
import { type Database, defineStatement, type Sql } from './database.ts';
import {
  OUTBOX_COLUMNS,
  type PartChange,
  type PartRow,
  type PartState,
  readPart,
} from './outbox-parts.ts';

/** An open approval in a conversation, with its question as shown in one of its chats. */
export interface OpenQuestionView {
  readonly approval: Approval;
  /**
   * Undefined if the question was not shown in this chat and topic, or if too many parts have been
   * sent after it.
   */
  readonly shown: QuestionPart | undefined;
}

/** The part that shows a question's buttons; times are in ms. */
export interface QuestionPart {
  readonly state: PartState;
  /** Null if the part has never been edited or deleted. */
  readonly changed: PartChange | null;
  /** Null until the platform has confirmed the part. */
  readonly messageId: string | null;
  readonly sendingAt: number | null;
  /**
   * Whether this is the last part in the chat that can be answered. Answers to commands do not
   * count, because they do not contain questions.
   */
  readonly isLast: boolean;
}

type ChatLocation = Pick<InboundMessage, 'channel' | 'account' | 'chat'>;

/** How many of a chat's newest parts are searched for a question. */
const RECENT_PARTS = 60;

/**
 * A conversation's open approvals, with their questions as shown in a chat (G05). A typed "yes"
 * counts only for a question that the chat still shows in full. Reads the `approval` and `outbox`
 * tables.
 */
export function createOpenQuestionRepository(database: Database) {
  return {
    openIn: (conversationId: string, place: ChatLocation, now: number) =>
      database.read((sql) => listOpenQuestions(sql, conversationId, place, now)),
  };
}

async function listOpenQuestions(
  sql: Sql,
  conversationId: string,
  { channel, account, chat }: ChatLocation,
  now: number,
): Promise<readonly OpenQuestionView[]> {
  const open = await sql.all(OPEN_IN, { conversationId, now });
  if (open.length === 0) return [];
  const rows = await sql.all(PARTS, { channel, account, chatId: chat.id, limit: RECENT_PARTS });
  const parts = rows
    .map((row) => ({ ...row, part: readPart(row) }))
    .filter(({ part }) => part.route.threadId === chat.threadId);
  return open.map((row) => {
    const at = parts.findIndex(({ part }) =>
      (part.buttons ?? []).some(({ data }) => data === `/approve ${row.code}`),
    );
    return { approval: readApprovalRow(row), shown: toQuestionPart(parts[at], at) };
  });
}

function toQuestionPart(row: PartRowWithState | undefined, at: number): QuestionPart | undefined {
  if (row === undefined) return undefined;
  const { state, changed, messageId, sendingAt } = row;
  return { state, changed, messageId, sendingAt, isLast: at === 0 };
}

interface PartRowWithState extends PartRow {
  readonly state: PartState;
  readonly changed: PartChange | null;
  readonly messageId: string | null;
  readonly sendingAt: number | null;
}

const PARTS = defineStatement(`
  select ${OUTBOX_COLUMNS}, state, changed, platform_message_id as "messageId",
    sending_at as "sendingAt" from outbox
  where ${OF_CHAT} and answers is null order by seq desc limit :limit`).rows<PartRowWithState>();
