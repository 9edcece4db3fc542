import type { Sql } from '../database.ts';
import { HEARTBEAT_LANE } from '../literals.ts';
import type { ChatKey } from '../outbox-parts.ts';
import type { WhyQuestion } from '../why.ts';

/** A row that tells of a message: one that was taken, or one that was not. */
export interface FoundMessage extends ChatKey {
  readonly table: 'inbox' | 'decision';
  readonly seq: number;
  readonly messageId: string;
  readonly at: number;
}

/** More than these are too many to choose from. */
const MOST_FOUND = 10;
/** Among so many the newest message of a person is looked for. */
const LATELY = 50;

/** The messages that may be meant, newest first. */
export async function findMessages(
  sql: Sql,
  { message, chat }: WhyQuestion,
): Promise<readonly FoundMessage[]> {
  if (message === 'last') return newest(sql, chat);
  const ofTurn = await rowsOfTurn(sql, message, chat);
  if (ofTurn !== null) return ofTurn;
  const named = placeIn(message);
  if (named !== null && (chat === undefined || isSame(named, chat))) {
    const exactly = await byId(sql, named.messageId, named);
    if (exactly.length > 0) return exactly;
  }
  const there = await byId(sql, message, chat);
  if (there.length > 0 || chat === undefined) return there;
  // Runs of standing tasks have a lane of their own; whether this chat was told of it is looked at then.
  const anywhere = await byId(sql, message, undefined);
  return anywhere.filter(({ chatId }) => chatId.startsWith(HEARTBEAT_LANE));
}

/** Whether two keys name one chat. */
export function isSame(one: ChatKey, other: ChatKey): boolean {
  return (
    one.channel === other.channel && one.account === other.account && one.chatId === other.chatId
  );
}

/** `telegram:42/7`, `telegram/work:42/7`: the last `/` ends the chat. */
function placeIn(name: string): (ChatKey & { readonly messageId: string }) | null {
  const [, channel, account = 'default', chatId, messageId] =
    /^([a-z][a-z0-9-]*)(?:\/([^:/]+))?:(.+)\/([^/]+)$/.exec(name) ?? [];
  if (channel === undefined || chatId === undefined || messageId === undefined) return null;
  return { channel, account, chatId, messageId };
}

async function byId(
  sql: Sql,
  messageId: string,
  chat: ChatKey | undefined,
): Promise<readonly FoundMessage[]> {
  const inbox = await inboxRows(sql, chat)
    .where('message_id', '=', messageId)
    .orderBy('seq', 'desc')
    .limit(MOST_FOUND)
    .execute();
  const taken = inbox.map(foundIn('inbox'));
  const decisions = await decisionRows(sql, chat)
    .where('message_id', '=', messageId)
    .orderBy('seq', 'desc')
    .limit(MOST_FOUND)
    .execute();
  // A picture whose album was addressed later stands in both.
  const others = decisions
    .map(foundIn('decision'))
    .filter((one) => !taken.some((other) => isSame(one, other)));
  return [...taken, ...others].toSorted((a, b) => b.at - a.at);
}

async function rowsOfTurn(
  sql: Sql,
  turnId: string,
  chat: ChatKey | undefined,
): Promise<readonly FoundMessage[] | null> {
  const [first] = await inboxRows(sql, chat)
    .where('turn_id', '=', turnId)
    .orderBy('seq')
    .limit(1)
    .execute();
  return first === undefined ? null : [foundIn('inbox')(first)];
}

/** The newest message of a person that is no command; where there is none, the newest of all. */
async function newest(sql: Sql, chat: ChatKey | undefined): Promise<readonly FoundMessage[]> {
  const inbox = await inboxRows(sql, chat).orderBy('seq', 'desc').limit(LATELY).execute();
  const said = inbox.find((row) => row.outcome !== 'command' && !isByParley(row.message));
  const [decision] = await decisionRows(sql, chat).orderBy('seq', 'desc').limit(1).execute();
  const found = [
    ...(said === undefined ? [] : [foundIn('inbox')(said)]),
    ...(decision === undefined ? [] : [foundIn('decision')(decision)]),
  ].toSorted((a, b) => b.at - a.at);
  return (found.length > 0 ? found : inbox.map(foundIn('inbox'))).slice(0, 1);
}

/** The newest messages of all chats, newest first. */
export async function newestMessages(sql: Sql, limit: number): Promise<readonly FoundMessage[]> {
  const inbox = await inboxRows(sql, undefined).orderBy('seq', 'desc').limit(limit).execute();
  const decisions = await decisionRows(sql, undefined)
    .orderBy('seq', 'desc')
    .limit(limit)
    .execute();
  return [...inbox.map(foundIn('inbox')), ...decisions.map(foundIn('decision'))]
    .toSorted((a, b) => b.at - a.at)
    .slice(0, limit);
}

/** Inside a text of JSON these quotes would stand behind a backslash. */
function isByParley(message: string | null): boolean {
  return message?.includes(',"occasion":"') === true;
}

function inboxRows(sql: Sql, chat: ChatKey | undefined) {
  const rows = sql
    .selectFrom('inbox')
    .select(['seq', 'channel', 'account', 'chat_id', 'message_id', 'received_at as at'])
    .select(['message', 'outcome']);
  if (chat === undefined) return rows;
  return rows
    .where('channel', '=', chat.channel)
    .where('account', '=', chat.account)
    .where('chat_id', '=', chat.chatId);
}

function decisionRows(sql: Sql, chat: ChatKey | undefined) {
  const rows = sql
    .selectFrom('decision')
    .select(['seq', 'channel', 'account', 'chat_id', 'message_id', 'decided_at as at']);
  if (chat === undefined) return rows;
  return rows
    .where('channel', '=', chat.channel)
    .where('account', '=', chat.account)
    .where('chat_id', '=', chat.chatId);
}

interface Row {
  readonly seq: number;
  readonly channel: string;
  readonly account: string;
  readonly chat_id: string;
  readonly message_id: string;
  readonly at: number;
}

function foundIn(table: FoundMessage['table']) {
  return ({ seq, channel, account, chat_id, message_id, at }: Row): FoundMessage => {
    return { table, seq, channel, account, chatId: chat_id, messageId: message_id, at };
  };
}
