import type { Sql } from '../database.ts';
import type { ChatKey } from '../outbox.ts';
import { readRetries } from '../repositories/outbox-repository.ts';
import { isSame } from './find-message.ts';
import type { PartFacts } from './message-facts.ts';

/** The parts that a turn, or else the command itself, has put into the outbox. */
export async function readParts(
  sql: Sql,
  { turnId, seq }: { readonly turnId: string | null; readonly seq: number },
  here: ChatKey,
): Promise<readonly PartFacts[]> {
  const parts = sql
    .selectFrom('outbox')
    .select(['outbox.id', 'channel', 'account', 'chat_id', 'part_index', 'state', 'attempts'])
    .select(['created_at', 'not_before', 'tried_at', 'sending_at', 'sent_at'])
    .select(['platform_message_id', 'error', 'retries'])
    .select((eb) =>
      // The newest word on it: what was replayed may have died again.
      eb
        .selectFrom('dead_letter')
        .select('settled')
        .whereRef('dead_letter.subject', '=', 'outbox.id')
        .orderBy('dead_letter.seq', 'desc')
        .limit(1)
        .as('settled'),
    )
    .orderBy('outbox.seq');
  const rows = await (turnId === null
    ? parts.where('answers', '=', seq)
    : parts.where('turn_id', '=', turnId)
  ).execute();
  return rows.map((row) => ({
    id: row.id,
    index: row.part_index,
    isHere: isSame({ channel: row.channel, account: row.account, chatId: row.chat_id }, here),
    state: row.state,
    attempts: row.attempts,
    createdAt: row.created_at,
    notBefore: row.not_before,
    triedAt: row.tried_at,
    sendingAt: row.sending_at,
    sentAt: row.sent_at,
    platformId: row.platform_message_id,
    error: row.error,
    retries: readRetries(row.retries),
    settled: row.settled,
  }));
}
