import type { Sql } from '../database.ts';
import type { ChatKey, Post, PostResult } from '../outbox.ts';
import { statement } from '../statement.ts';
import { lockConversation } from './conversation.ts';
import { insertPartOnce } from './new-parts.ts';
import { isTurnRunning } from './running-turn.ts';

/** Puts the parts of a post at the end of the outbox, unless its key has done so before. */
export async function postParts(
  sql: Sql,
  { key, parts, turn }: Post,
  now: number,
): Promise<PostResult> {
  if (turn !== undefined) await lockTurn(sql, turn.id);
  const known = await postedUnder(sql, key);
  if (known !== null) return { kind: 'known', chat: known };
  if (turn !== undefined) {
    if (!(await isTurnRunning(sql, turn.id))) return { kind: 'over' };
    if ((await countPosts(sql, turn.id)) >= turn.most) return { kind: 'too-many' };
  }
  const [first, ...others] = parts;
  const by = { turnId: turn?.id ?? null, now };
  const { channel, account, chatId } = first.route;
  // Another process posted under the key at the same moment, perhaps to another chat.
  if (!(await insertPartOnce(sql, partIdOf(key, 0), first, by))) {
    const chat = await postedUnder(sql, key);
    return { kind: 'known', chat: chat ?? { channel, account, chatId } };
  }
  for (const [nth, part] of others.entries()) {
    await insertPartOnce(sql, partIdOf(key, nth + 1), part, by);
  }
  return { kind: 'posted', chat: { channel, account, chatId } };
}

const PREFIX = 'post:';

function partIdOf(key: string, nth: number): string {
  return `${PREFIX}${key}.${nth}`;
}

/** Whoever stops the conversation locks it, too: nothing is posted behind a `/stop`. */
async function lockTurn(sql: Sql, turnId: string): Promise<void> {
  const turn = await sql.get(LANE_OF, { turnId });
  if (turn !== undefined) await lockConversation(sql, turn.conversation_id);
}

async function postedUnder(sql: Sql, key: string): Promise<ChatKey | null> {
  return (await sql.get(CHAT_OF, { id: partIdOf(key, 0) })) ?? null;
}

const LANE_OF = statement('select conversation_id from turn where id = :turnId').rows<{
  readonly conversation_id: string;
}>();
const CHAT_OF = statement(
  'select channel, account, chat_id as "chatId" from outbox where id = :id',
).rows<ChatKey>();
// Without a number: only parts of an answer become what was streamed at their place. The first part
// stands for all of its post.
const COUNT_POSTS = statement(`
  select count(*) as count from outbox
  where turn_id = :turnId and part_index is null and id like :posts`).rows<{
  readonly count: number;
}>();

async function countPosts(sql: Sql, turnId: string): Promise<number> {
  return (await sql.get(COUNT_POSTS, { turnId, posts: `${PREFIX}%.0` }))?.count ?? 0;
}
