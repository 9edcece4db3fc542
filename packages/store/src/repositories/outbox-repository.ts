import type { NewId } from '@parley/contracts';
import type { Database } from '../database.ts';
import type { OutboxRepository } from '../outbox.ts';
import { leaveSending } from './leave-sending.ts';
import { migrateChat } from './migrate-chat.ts';
import { insertParts } from './new-parts.ts';
import { chatsWithWork, countStates, nextPart, recentParts } from './outbox-queries.ts';
import { postParts } from './post-parts.ts';
import { recordDeadPart } from './record-dead-letter.ts';

/** The outbox on SQL. */
export function outboxRepository(database: Database, newId: NewId): OutboxRepository {
  return {
    next: (chat) => database.read((sql) => nextPart(sql, chat)),

    markSending: (partId, now) =>
      database.write(async (sql) => {
        const result = await sql
          .updateTable('outbox')
          .set(({ fn, val }) => ({
            state: 'sending',
            updated_at: now,
            tried_at: fn.coalesce('tried_at', val(now)),
            sending_at: now,
          }))
          .where('id', '=', partId)
          .where('state', '=', 'pending')
          .executeTakeFirst();
        return result.numUpdatedRows > 0n;
      }),

    // A power cut that undoes this leaves the part in `sending`, which is told as uncertain.
    markSent: (partId, platformMessageId, now) =>
      database.write(
        (sql) =>
          leaveSending(sql, partId, {
            state: 'sent',
            platform_message_id: platformMessageId,
            error: null,
            updated_at: now,
            sent_at: now,
          }),
        'process',
      ),

    retryLater: (partId, notBefore, error, attempt) =>
      database.write((sql) =>
        leaveSending(
          sql,
          partId,
          { state: 'pending', not_before: notBefore, error },
          { attempts: attempt === 'counts' ? 1 : 0, retry: { until: notBefore, reason: error } },
        ),
      ),

    giveUp: (partId, state, error, now, notice) =>
      database.write(async (sql) => {
        await leaveSending(sql, partId, { state, error, updated_at: now });
        await recordDeadPart(sql, partId, state, now);
        if (notice === null) return;
        await insertParts(sql, [notice], { turnId: null, noticeOf: partId, now, newId });
      }),

    migrateChat: (chat, newChatId) => database.write((sql) => migrateChat(sql, chat, newChatId)),
    enqueue: (parts, now) =>
      database.write((sql) => insertParts(sql, parts, { turnId: null, now, newId })),
    post: (post, now) => database.write((sql) => postParts(database, sql, post, now)),
    chatsWithWork: (channel, account, now, limit) =>
      database.read((sql) => chatsWithWork(sql, { channel, account, now, limit })),
    counts: () => database.read(countStates),
    recent: (chat, limit) => database.read((sql) => recentParts(sql, chat, limit)),
  };
}
