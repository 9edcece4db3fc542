import type { Database, Sql } from '../database.ts';
import type { ChatKey, Post, PostResult } from '../outbox.ts';
import type { NewPart } from '../rows.ts';
import { lockConversation } from './conversation.ts';
import { newOutboxRow } from './new-parts.ts';
import { isTurnRunning } from './running-turn.ts';

/** Puts the parts of a post at the end of the outbox, unless its key has done so before. */
export async function postParts(
  database: Database,
  sql: Sql,
  { key, parts, turn }: Post,
  now: number,
): Promise<PostResult> {
  if (turn !== undefined) await lockTurn(database, sql, turn.id);
  const known = await postedUnder(sql, key);
  if (known !== null) return { kind: 'known', chat: known };
  if (turn !== undefined) {
    if (!(await isTurnRunning(sql, turn.id))) return { kind: 'over' };
    if ((await countPosts(sql, turn.id)) >= turn.most) return { kind: 'too-many' };
  }
  const [first, ...others] = parts;
  const begins = postRow(first, key, 0, { turnId: turn?.id ?? null, now });
  const { channel, account, chat_id: chatId } = begins;
  const inserted = await sql
    .insertInto('outbox')
    .values(begins)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  // Somebody else posted under the key at the same moment, perhaps to another chat.
  if (inserted.numInsertedOrUpdatedRows !== 1n) {
    const chat = await postedUnder(sql, key);
    return { kind: 'known', chat: chat ?? { channel, account, chatId } };
  }
  for (const [nth, part] of others.entries()) {
    const row = postRow(part, key, nth + 1, { turnId: turn?.id ?? null, now });
    await sql.insertInto('outbox').values(row).execute();
  }
  return { kind: 'posted', chat: { channel, account, chatId } };
}

const PREFIX = 'post:';

function partIdOf(key: string, nth: number): string {
  return `${PREFIX}${key}.${nth}`;
}

/** Without a number: only parts of an answer become what was streamed at their place. */
function postRow(part: NewPart, key: string, nth: number, by: PostedBy) {
  const newId = () => partIdOf(key, nth);
  return { ...newOutboxRow(part, nth, { ...by, newId }), part_index: null };
}

interface PostedBy {
  readonly turnId: string | null;
  readonly now: number;
}

/** Whoever stops the conversation locks it, too: nothing is posted behind a `/stop`. */
async function lockTurn(database: Database, sql: Sql, turnId: string): Promise<void> {
  const turn = await sql
    .selectFrom('turn')
    .select('conversation_id')
    .where('id', '=', turnId)
    .executeTakeFirst();
  if (turn !== undefined) await lockConversation(database, sql, turn.conversation_id);
}

async function postedUnder(sql: Sql, key: string): Promise<ChatKey | null> {
  const row = await sql
    .selectFrom('outbox')
    .select(['channel', 'account', 'chat_id'])
    .where('id', '=', partIdOf(key, 0))
    .executeTakeFirst();
  if (row === undefined) return null;
  return { channel: row.channel, account: row.account, chatId: row.chat_id };
}

/** Posts, not parts: the first part stands for all of its post. */
async function countPosts(sql: Sql, turnId: string): Promise<number> {
  const row = await sql
    .selectFrom('outbox')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('turn_id', '=', turnId)
    .where('part_index', 'is', null)
    .where('id', 'like', `${PREFIX}%.0`)
    .executeTakeFirstOrThrow();
  return row.count;
}
