import type { Sql } from '../database.ts';
import type { BeforePart, ChatKey, DuePart, OutboxEntry, PartState } from '../outbox.ts';
import { UNFINISHED } from './literals.ts';
import { OUTBOX_COLUMNS, readPart } from './outbox-row.ts';

function partsOf(sql: Sql, { channel, account, chatId }: ChatKey) {
  return sql
    .selectFrom('outbox')
    .where('channel', '=', channel)
    .where('account', '=', account)
    .where('chat_id', '=', chatId);
}

/** The first part of a chat that is not finished, due or not: nothing may overtake it. */
export async function nextPart(sql: Sql, chat: ChatKey): Promise<DuePart | null> {
  const row = await partsOf(sql, chat)
    .select([
      ...OUTBOX_COLUMNS,
      'state',
      'attempts',
      'not_before',
      'sending_at',
      'created_at',
      'trace',
    ])
    .select(({ exists, selectFrom }) =>
      exists(
        selectFrom('outbox as later')
          .select('later.seq')
          .whereRef('later.turn_id', '=', 'outbox.turn_id')
          .whereRef('later.part_index', '>', 'outbox.part_index'),
      ).as('goes_on'),
    )
    .where('state', 'in', UNFINISHED)
    .orderBy('seq')
    .limit(1)
    .executeTakeFirst();
  if (row === undefined) return null;
  const state = row.state === 'sending' ? 'sending' : 'pending';
  return {
    part: { ...readPart(row), isLast: !row.goes_on },
    state,
    attempts: row.attempts,
    notBefore: row.not_before,
    sendingAt: row.sending_at,
    createdAt: row.created_at,
    ...(row.trace === null ? {} : { trace: row.trace }),
  };
}

/** Messages of each direction that tell how far the platform had numbered. */
const KNOWN_BEFORE = 50;

/** What was known of an account before a part was marked as being sent. */
export async function beforePart(sql: Sql, partId: string): Promise<BeforePart> {
  const part = await sql
    .selectFrom('outbox')
    .select(['channel', 'account', 'chat_id as chatId', 'sending_at'])
    .where('id', '=', partId)
    .executeTakeFirstOrThrow();
  const until = part.sending_at ?? 0;
  const sent = await sql
    .selectFrom('outbox')
    .select(['chat_id as chatId', 'platform_message_id as messageId', 'sent_at as at'])
    .where('channel', '=', part.channel)
    .where('account', '=', part.account)
    .where('state', '=', 'sent')
    .where('sent_at', '<=', until)
    .orderBy('seq', 'desc')
    .limit(KNOWN_BEFORE)
    .execute();
  const received = await sql
    .selectFrom('inbox')
    .select(['chat_id as chatId', 'message_id as messageId', 'received_at as at'])
    .where('channel', '=', part.channel)
    .where('account', '=', part.account)
    .where('received_at', '<=', until)
    .orderBy('seq', 'desc')
    .limit(KNOWN_BEFORE)
    .execute();
  const uncertain = await partsOf(sql, part)
    .select((eb) => eb.fn.max('updated_at').as('at'))
    .where('state', '=', 'unknown')
    .executeTakeFirst();
  const out = sent.flatMap(({ chatId, messageId, at }) =>
    messageId === null || at === null ? [] : [{ chatId, messageId, at, direction: 'out' as const }],
  );
  const known = [...out, ...received.map((row) => ({ ...row, direction: 'in' as const }))];
  return { known, uncertainAt: uncertain?.at ?? null };
}

/** The newest parts of a chat, oldest first. */
export async function recentParts(
  sql: Sql,
  chat: ChatKey,
  limit: number,
): Promise<readonly OutboxEntry[]> {
  const rows = await partsOf(sql, chat)
    .select([...OUTBOX_COLUMNS, 'state', 'created_at', 'error'])
    .orderBy('seq', 'desc')
    .limit(limit)
    .execute();
  return rows.reverse().map((row) => ({
    part: readPart(row),
    state: row.state,
    createdAt: row.created_at,
    error: row.error,
  }));
}

interface AccountSearch {
  readonly channel: string;
  readonly account: string;
  readonly now: number;
  readonly limit: number;
}

/**
 * Chats whose first unfinished part is due; a later part never overtakes it, so only the first
 * one counts. The oldest part first, so that a limit cannot hide a chat for ever.
 */
export async function chatsWithWork(
  sql: Sql,
  { channel, account, now, limit }: AccountSearch,
): Promise<readonly ChatKey[]> {
  const rows = await sql
    .selectFrom('outbox as part')
    .select('part.chat_id')
    .where('part.channel', '=', channel)
    .where('part.account', '=', account)
    .where('part.state', 'in', UNFINISHED)
    .where('part.not_before', '<=', now)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('outbox as earlier')
            .select('earlier.seq')
            .whereRef('earlier.channel', '=', 'part.channel')
            .whereRef('earlier.account', '=', 'part.account')
            .whereRef('earlier.chat_id', '=', 'part.chat_id')
            .where('earlier.state', 'in', UNFINISHED)
            .whereRef('earlier.seq', '<', 'part.seq'),
        ),
      ),
    )
    .orderBy('part.seq')
    .limit(limit)
    .execute();
  return rows.map((row) => ({ channel, account, chatId: row.chat_id }));
}

/** How many parts are in each state. */
export async function countStates(sql: Sql): Promise<Readonly<Record<PartState, number>>> {
  const rows = await sql
    .selectFrom('outbox')
    .select((eb) => ['state', eb.fn.countAll<number>().as('count')])
    .groupBy('state')
    .execute();
  const counts = { pending: 0, sending: 0, sent: 0, unknown: 0, failed: 0 };
  for (const { state, count } of rows) counts[state] = count;
  return counts;
}
