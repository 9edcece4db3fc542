import type { InboundMessage } from '@parley/contracts';
import type { Sql } from '../database.ts';

/** Writes down what came with a message, in the transaction that stores the message. */
export async function insertAttachments(
  sql: Sql,
  messageSeq: number,
  { channel, account, attachments = [] }: InboundMessage,
  receivedAt: number,
): Promise<void> {
  if (attachments.length === 0) return;
  const rows = attachments.map(({ kind, name, mimeType, size, ref }, index) => ({
    inbox_seq: messageSeq,
    attachment_index: index,
    channel,
    account,
    kind,
    name: name ?? null,
    mime_type: mimeType ?? null,
    size: size ?? null,
    ref,
    state: 'pending' as const,
    not_before: receivedAt,
    created_at: receivedAt,
    updated_at: receivedAt,
  }));
  await sql.insertInto('attachment').values(rows).execute();
}

/** An edited message may have other files: what changed is fetched anew, what stayed is kept. */
export async function reviseAttachments(
  sql: Sql,
  messageSeq: number,
  message: InboundMessage,
  receivedAt: number,
): Promise<void> {
  const before = await sql
    .selectFrom('attachment')
    .select('ref')
    .where('inbox_seq', '=', messageSeq)
    .orderBy('attachment_index')
    .execute();
  const now = message.attachments ?? [];
  const same = before.length === now.length && now.every(({ ref }, at) => before[at]?.ref === ref);
  if (same) return;
  await sql.deleteFrom('attachment').where('inbox_seq', '=', messageSeq).execute();
  await insertAttachments(sql, messageSeq, message, receivedAt);
}
