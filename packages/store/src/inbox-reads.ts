import { getConversationAgent, InboundMessage, ReplyRoute } from '@parley/core';
import { z } from 'zod';
import type { ChatKey } from './conversations.ts';
import { OF_CHAT } from './conversations.ts';
import { decodeCheckedJson, defineStatement, type Sql } from './database.ts';
import { type HistoryState, selectHistoryState } from './history-state.ts';
import {
  INBOX_COLUMNS,
  type InboxOutcome,
  type InboxRow,
  type MessageRow,
  readInboxRow,
} from './rows.ts';
import { OWNER_MESSAGES } from './tables/messages.ts';

/** A direct chat in which an owner wrote. */
interface OwnerChat {
  readonly route: ReplyRoute;
  readonly conversationId: string;
}

/**
 * Finds the direct chat in which an owner of an agent last wrote to it; null if no owner wrote
 * recently.
 */
export async function findOwnerRoute(
  sql: Sql,
  agent: string | undefined,
): Promise<OwnerChat | null> {
  const rows = await sql.all(OWNER_ROUTES);
  const row = rows.find(({ lane }) => getConversationAgent(lane) === agent);
  if (row === undefined) return null;
  const what = "route of an owner's message";
  const { replyToMessageId: _, ...route } = decodeCheckedJson(ReplyRoute, row.route, what);
  return { route, conversationId: row.lane };
}

/** Lists the last message of each direct chat in which an owner wrote recently, newest first. */
export async function listOwnerChats(sql: Sql): Promise<readonly InboxRow[]> {
  const rows = await sql.all(OWNER_CHATS);
  const newest = new Map<string, MessageRow>();
  for (const row of rows) {
    const chat = JSON.stringify([row.channel, row.account, row.chat_id]);
    if (!newest.has(chat)) newest.set(chat, row);
  }
  return [...newest.values()].map(readInboxRow);
}

// Messages that owners wrote in direct chats, newest first (index `inbox_owner`). Messages from
// Parley itself have a trigger; inside a JSON string, its quotes would be escaped. API clients are
// left out, because they only receive answers to their own requests.
const OF_OWNERS: string = `
  from inbox where from_owner = 1 and channel <> 'api' and message not like '%,"trigger":"%' order by seq desc`;

const OWNER_ROUTES = defineStatement(
  `select route, conversation_id as lane ${OF_OWNERS} limit ${OWNER_MESSAGES}`,
).rows<{ readonly route: string; readonly lane: string }>();

const OWNER_CHATS = defineStatement(
  `select ${INBOX_COLUMNS}, channel, account, chat_id ${OF_OWNERS} limit ${OWNER_MESSAGES}`,
).rows<MessageRow & Readonly<Record<'channel' | 'account' | 'chat_id', string>>>();

/** Counts how often each command was typed. */
export async function countTypedCommands(sql: Sql): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for (const { message } of await sql.all(TYPED)) {
    const { text } = decodeCheckedJson(Typed, message, 'message');
    const [, word] = /^\s*\/([a-z0-9_-]{1,64})(?:\s|$)/i.exec(text) ?? [];
    const name = word?.toLowerCase().replaceAll('-', '_');
    if (name !== undefined) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

const TYPED = defineStatement(
  "select message from inbox where seq > (select max(seq) from inbox) - 2000 and message like '%/%'",
).rows<{ readonly message: string }>();
const Typed = z.object({ text: z.string() });

/** A message with its outcome; null while it waits for a turn. */
interface RecentRow extends InboxRow {
  readonly outcome: InboxOutcome | null;
  readonly turnId: string | null;
  readonly isRewound?: true;
}

/** Condition: the `inbox` row does not belong to a conversation that has since been deleted. */
export const IS_NOT_DELETED = `inbox.seq > coalesce((select deleted_message from conversation
    where conversation.id = inbox.conversation_id), 0)` as const;

/** Lists the newest `limit` messages in a chat, oldest first. */
export async function listRecentMessages(
  sql: Sql,
  chat: ChatKey,
  limit: number,
): Promise<readonly RecentRow[]> {
  const rows = await sql.all(RECENT, { ...chat, limit });
  return rows.reverse().map((row): RecentRow => {
    const { outcome, turn_id: turnId, history } = row;
    const isRewound = history === 'rewound';
    return { ...readInboxRow(row), outcome, turnId, ...(isRewound && { isRewound }) };
  });
}

const RECENT = defineStatement(`
  select ${INBOX_COLUMNS}, outcome, turn_id,
    ${selectHistoryState('inbox.turn_id', 'inbox.conversation_id')} as history
  from inbox where ${OF_CHAT} and ${IS_NOT_DELETED}
  order by seq desc limit :limit`).rows<
  MessageRow & {
    readonly outcome: InboxOutcome | null;
    readonly turn_id: string | null;
    readonly history: HistoryState;
  }
>();

/** Lists an account's chats in which people wrote, newest first. */
export async function listAccountChats(
  sql: Sql,
  account: Pick<ChatKey, 'channel' | 'account'>,
  limit: number,
) {
  const rows = await sql.all(CHATS, { ...account, limit });
  return rows.map(({ chatId, conversationId, at, answeredAt, message }) => {
    const first = decodeCheckedJson(InboundMessage, message, `first message of chat ${chatId}`);
    return { chatId, conversationId, at, answeredAt: answeredAt ?? 0, first };
  });
}

const OF_ACCOUNT = 'channel = :channel and account = :account';

/**
 * Selects the rows in the chat `chat.id`. The condition is written as a range, so that the index
 * order `chat_id, seq` applies; with `=`, PostgreSQL may scan all chats by `seq` to find one row.
 */
const IN_LISTED_CHAT = `${OF_ACCOUNT} and chat_id >= chat.id and chat_id <= chat.id`;
const NEWEST_IN_CHAT = `${IN_LISTED_CHAT} order by chat_id desc, seq desc limit 1`;

/**
 * Steps from chat to chat along the index, so that the cost does not depend on the number of
 * messages. A chat's first message is neither a command nor a replaced message, if there is another
 * one; a chat whose messages were all deleted has none.
 */
export const CHATS = defineStatement(`
  with recursive chat (id) as (
    select min(chat_id) from inbox where ${OF_ACCOUNT}
    union all
    select (select min(chat_id) from inbox where ${OF_ACCOUNT} and chat_id > chat.id)
    from chat where chat.id is not null)
  select * from (
    select id as "chatId", coalesce(
        (select message from inbox where ${IN_LISTED_CHAT} and ${IS_NOT_DELETED}
          and coalesce(outcome, '') not in ('command', 'replaced') order by chat_id, seq limit 1),
        (select message from inbox where ${IN_LISTED_CHAT} and ${IS_NOT_DELETED}
          order by chat_id, seq limit 1)) as message,
      (select conversation_id from inbox where ${NEWEST_IN_CHAT}) as "conversationId",
      (select received_at from inbox where ${NEWEST_IN_CHAT}) as at,
      (select created_at from outbox where ${NEWEST_IN_CHAT}) as "answeredAt",
      (select seq from inbox where ${NEWEST_IN_CHAT}) as newest
    from chat where id is not null) as listed
  where message is not null order by newest desc limit :limit`).rows<{
  readonly chatId: string;
  readonly conversationId: string;
  readonly at: number;
  readonly message: string;
  readonly answeredAt: number | null;
}>();
