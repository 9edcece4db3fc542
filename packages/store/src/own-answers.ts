import type { InboundMessage, ReplyRoute } from '@parley/core';
import { OF_CHAT } from './conversations.ts';
import { defineStatement, encodeJson, type Sql } from './database.ts';
import { OUTBOX_COLUMNS, type PartRow, readPart } from './outbox-parts.ts';
import { type ButtonMessage, isPressOnStoredMessage } from './presses.ts';
import { INBOX_COLUMNS, type MessageRow, readInboxRow } from './rows.ts';

/** A sent answer part, which the agent may refer to as its own message. */
export interface AgentAnswer {
  readonly partId: string;
  readonly messageId: string;
  /** The people whose messages the answer was for: `telegram:42`. */
  readonly people: readonly string[];
}

/** One of an agent's conversations, and a chat in which the agent answers. */
export interface AnsweredChat {
  readonly conversationId: string;
  readonly route: ReplyRoute;
}

/**
 * Lists the agent's own messages in one chat of a conversation, newest first: the parts of its
 * answers there. The list leaves out other messages sent by the same account, because the agent may
 * not edit, delete or count them: questions, notices, alerts, codes and links from Parley, a
 * person's replies on the page, and answers from other agents, topics and conversations.
 */
export async function listAgentAnswers(
  sql: Sql,
  { conversationId, route: { channel, account, chatId, threadId } }: AnsweredChat,
  limit: number,
): Promise<readonly AgentAnswer[]> {
  const chat = { channel, account, chatId, conversationId };
  const rows = (await sql.all(OWN, { ...chat, limit: 4 * limit })).filter(
    (row) => readPart(row).route.threadId === threadId,
  );
  const own = rows.slice(0, limit);
  const turns = encodeJson([...new Set(own.map(({ turn_id }) => turn_id))]);
  const answered = own.length === 0 ? [] : await sql.all(ANSWERED, { turns });
  const peopleOf = (turn: string | null) =>
    answered.flatMap((row) => (row.turnId === turn ? senderKey(readInboxRow(row).message) : []));
  return own.map(({ id: partId, messageId, turn_id }) => ({
    partId,
    messageId,
    people: [...new Set(peopleOf(turn_id))],
  }));
}

const senderKey = ({ channel, sender }: InboundMessage) => `${channel}:${sender.id}`;

// A failed turn does not have an answer, only a notice about the failure.
const OWN = defineStatement(`
  select ${OUTBOX_COLUMNS}, platform_message_id as "messageId"
  from outbox join turn on turn.id = outbox.turn_id
  where ${OF_CHAT} and outbox.state = 'sent' and part_index is not null and notice_of is null
    and (changed is null or changed <> 'deleted')
    and turn.conversation_id = :conversationId and turn.state <> 'failed' and turn.written_by is null
  order by outbox.seq desc limit :limit`).rows<PartRow & { readonly messageId: string }>();

const ANSWERED = defineStatement(`
  select ${INBOX_COLUMNS}, turn_id as "turnId" from inbox
  where turn_id in (select value from json_each(:turns))`).rows<
  MessageRow & { readonly turnId: string }
>();

/**
 * Whether a message counts: it was either typed, or sent by pressing a stored button on an unedited
 * message.
 */
export async function isValidButtonPress(sql: Sql, message: InboundMessage): Promise<boolean> {
  const { channel, account, chat, pressed, text: data } = message;
  if (pressed === undefined) return true;
  const rows = await sql.all(PRESSABLE, { channel, account, chatId: chat.id, pressed });
  const messages = rows.map(({ messageId, changed, ...row }) => {
    const { buttons = [] } = readPart(row);
    const dataOf = (asks: boolean) =>
      buttons.flatMap((one) => ((one.asks !== undefined) === asks ? one.data : []));
    return { messageId, changed, data: dataOf(false), asks: dataOf(true) };
  });
  return isPressOnStoredMessage(messages, { pressed, data });
}

const PRESSABLE = defineStatement(`
  select ${OUTBOX_COLUMNS}, platform_message_id as "messageId", changed from outbox
  where ${OF_CHAT} and has_buttons = 1
    and (platform_message_id = :pressed or platform_message_id is null)`).rows<
  PartRow & Omit<ButtonMessage, 'data' | 'asks'>
>();
