import type { ExpressionBuilder, Updateable } from 'kysely';
import type { AttachmentKey, AttachmentRepository, StoredAttachment } from '../attachments.ts';
import type { Database, Sql } from '../database.ts';
import type { AttachmentTable } from '../tables/inbound-tables.ts';
import type { Tables } from '../tables.ts';
import { dueAttachments } from './due-attachments.ts';
import { PENDING } from './literals.ts';

/** Told of an attachment that was never fetched because its message needs no answer any more. */
const TOO_LATE = 'its message was answered or dropped before it had arrived';

/** Files of which the bytes are dropped in one transaction. */
const FILES_AT_ONCE = 5;

/**
 * The attachments on SQL. What is written here can be fetched or made once more, so none of it must
 * survive a power cut.
 */
export function attachmentRepository(database: Database): AttachmentRepository {
  const change = (key: AttachmentKey, values: Updateable<AttachmentTable>): Promise<void> =>
    database.write(async (sql) => {
      await updatePending(sql, key, values);
    }, 'process');
  return {
    due: (channel, account, now, limit) =>
      database.read((sql) => dueAttachments(sql, { channel, account, now, limit })),

    keep: (key, bytes, now) =>
      change(key, { state: 'ready', bytes, size: bytes.byteLength, updated_at: now }),

    retryLater: (key, notBefore, now) =>
      database.write(async (sql) => {
        await sql
          .updateTable('attachment')
          .set((eb) => ({
            attempts: eb('attempts', '+', 1),
            not_before: notBefore,
            updated_at: now,
          }))
          .where('inbox_seq', '=', key.messageSeq)
          .where('attachment_index', '=', key.index)
          .where('state', '=', PENDING)
          .execute();
      }, 'process'),

    fail: (key, reason, now) => change(key, { state: 'failed', reason, updated_at: now }),

    ofMessages: (messageSeqs) => database.read((sql) => ofMessages(sql, messageSeqs)),

    bytes: (key) =>
      database.read(async (sql) => {
        const row = await sql
          .selectFrom('attachment')
          .select('bytes')
          .where('inbox_seq', '=', key.messageSeq)
          .where('attachment_index', '=', key.index)
          .executeTakeFirst();
        return row?.bytes ?? null;
      }),

    keepText: (key, text, now) =>
      database.write(async (sql) => {
        await sql
          .updateTable('attachment')
          .set({ text, updated_at: now })
          .where('inbox_seq', '=', key.messageSeq)
          .where('attachment_index', '=', key.index)
          .execute();
      }, 'process'),

    bytesKept: () =>
      database.read(async (sql) => {
        const row = await sql
          .selectFrom('attachment')
          .select((eb) => eb.fn.sum<number | null>('size').as('kept'))
          .where('bytes', 'is not', null)
          .executeTakeFirst();
        return row?.kept ?? 0;
      }),

    async forget(before, now) {
      await database.write((sql) => endLate(sql, now), 'process');
      while (await database.write((sql) => dropBytes(sql, before), 'process'));
    },
  };
}

async function ofMessages(
  sql: Sql,
  messageSeqs: readonly number[],
): Promise<readonly StoredAttachment[]> {
  if (messageSeqs.length === 0) return [];
  const rows = await sql
    .selectFrom('attachment')
    .select(['inbox_seq', 'attachment_index', 'kind', 'name', 'mime_type', 'state'])
    .select(['reason', 'text'])
    .where('inbox_seq', 'in', messageSeqs)
    .orderBy('inbox_seq')
    .orderBy('attachment_index')
    .execute();
  return rows.map((row) => ({
    messageSeq: row.inbox_seq,
    index: row.attachment_index,
    kind: row.kind,
    name: row.name,
    mimeType: row.mime_type,
    state: row.state,
    reason: row.reason,
    text: row.text,
  }));
}

async function updatePending(
  sql: Sql,
  key: AttachmentKey,
  values: Updateable<AttachmentTable>,
): Promise<void> {
  await sql
    .updateTable('attachment')
    .set(values)
    .where('inbox_seq', '=', key.messageSeq)
    .where('attachment_index', '=', key.index)
    .where('state', '=', PENDING)
    .execute();
}

async function endLate(sql: Sql, now: number): Promise<void> {
  await sql
    .updateTable('attachment')
    .set({ state: 'failed', reason: TOO_LATE, updated_at: now })
    .where('attachment.state', '=', PENDING)
    .where(isOver)
    .execute();
}

/** Bytes are overwritten on the disk when they go, so a few files make a step. True: there may be more. */
async function dropBytes(sql: Sql, before: number): Promise<boolean> {
  const { numUpdatedRows } = await sql
    .updateTable('attachment')
    .set({ bytes: null })
    .where(({ eb, refTuple }) =>
      eb(refTuple('inbox_seq', 'attachment_index'), 'in', (old) =>
        old
          .selectFrom('attachment')
          .select(['attachment.inbox_seq', 'attachment.attachment_index'])
          .where('attachment.bytes', 'is not', null)
          .where('attachment.updated_at', '<', before)
          .where(isOver)
          .orderBy('attachment.updated_at')
          .limit(FILES_AT_ONCE)
          .$asTuple('inbox_seq', 'attachment_index'),
      ),
    )
    .executeTakeFirst();
  return Number(numUpdatedRows) === FILES_AT_ONCE;
}

function isOver({ exists, selectFrom }: ExpressionBuilder<Tables, 'attachment'>) {
  return exists(
    selectFrom('inbox')
      .select('inbox.seq')
      .whereRef('inbox.seq', '=', 'attachment.inbox_seq')
      .where('inbox.state', '=', 'done'),
  );
}
