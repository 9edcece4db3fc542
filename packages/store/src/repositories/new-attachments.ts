import type { InboundMessage } from '@parley/contracts';
import type { Sql } from '../database.ts';
import { statement } from '../statement.ts';

const INSERT = statement(`
  insert into attachment (inbox_seq, attachment_index, channel, account, kind, name, mime_type, size,
    ref, state, not_before, created_at, updated_at)
  values (:seq, :index, :channel, :account, :kind, :name, :mimeType, :size,
    :ref, 'pending', :now, :now, :now)`);
const REFS = statement(
  'select ref from attachment where inbox_seq = :seq order by attachment_index',
).rows<{ readonly ref: string }>();
const REMOVE = statement('delete from attachment where inbox_seq = :seq');

/** Writes down what came with a message, in the transaction that stores the message. */
export function insertAttachments(
  sql: Sql,
  seq: number,
  { channel, account, attachments = [] }: InboundMessage,
  now: number,
): void {
  for (const [index, { kind, name, mimeType, size, ref }] of attachments.entries()) {
    const file = { kind, name: name ?? null, mimeType: mimeType ?? null, size: size ?? null, ref };
    sql.send(INSERT, { seq, index, channel, account, ...file, now });
  }
}

/** An edited message may have other files: what changed is fetched anew, what stayed is kept. */
export async function reviseAttachments(
  sql: Sql,
  seq: number,
  message: InboundMessage,
  receivedAt: number,
): Promise<void> {
  const before = await sql.all(REFS, { seq });
  const now = message.attachments ?? [];
  const same = before.length === now.length && now.every(({ ref }, at) => before[at]?.ref === ref);
  if (same) return;
  sql.send(REMOVE, { seq });
  insertAttachments(sql, seq, message, receivedAt);
}
