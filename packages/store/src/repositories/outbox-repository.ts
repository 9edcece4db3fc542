import type { NewId } from '@parley/contracts';
import type { Database, Sql } from '../database.ts';
import type { NamedLease } from '../leases.ts';
import type { OutboxRepository } from '../outbox.ts';
import { enterSending, takeOverSending } from './enter-sending.ts';
import { type Change, leaveSending, type Tried } from './leave-sending.ts';
import { migrateChat } from './migrate-chat.ts';
import { insertParts } from './new-parts.ts';
import { beforePart, chatsWithWork, countStates, nextPart, recentParts } from './outbox-queries.ts';
import { postParts } from './post-parts.ts';
import { recordDeadPart } from './record-dead-letter.ts';

/** The outbox on SQL, for whoever sends under the lease; null: nobody else can be sending. */
export function outboxRepository(
  database: Database,
  newId: NewId,
  lease: NamedLease | null = null,
): OutboxRepository {
  const leave = (sql: Sql, partId: string, change: Change, tried?: Tried) =>
    leaveSending(sql, { partId, lease }, change, tried);
  return {
    under: (held) => outboxRepository(database, newId, held),
    next: (chat) => database.read((sql) => nextPart(sql, chat)),

    markSending: (partId, now) => database.write((sql) => enterSending(sql, partId, lease, now)),
    takeOver: (partId) => database.write((sql) => takeOverSending(sql, partId, lease)),

    before: (partId) => database.read((sql) => beforePart(sql, partId)),

    // A power cut that undoes this leaves the part in `sending`, which is told as uncertain.
    markSent: async (partId, platformMessageId, now) => {
      await database.write(
        (sql) =>
          leave(sql, partId, {
            state: 'sent',
            platform_message_id: platformMessageId,
            error: null,
            updated_at: now,
            sent_at: now,
          }),
        'process',
      );
    },

    retryLater: async (partId, notBefore, error, attempt) => {
      await database.write((sql) =>
        leave(
          sql,
          partId,
          { state: 'pending', not_before: notBefore, error },
          { attempts: attempt === 'counts' ? 1 : 0, retry: { until: notBefore, reason: error } },
        ),
      );
    },

    giveUp: (partId, state, error, now, notice) =>
      database.write(async (sql) => {
        if (!(await leave(sql, partId, { state, error, updated_at: now }))) return;
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
