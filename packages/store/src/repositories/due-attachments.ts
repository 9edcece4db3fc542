import type { DueAttachment } from '../attachments.ts';
import type { Sql } from '../database.ts';
import { PENDING } from './literals.ts';

/** Which account asks, when, and for how many at most. */
interface Asked {
  readonly channel: string;
  readonly account: string;
  readonly now: number;
  readonly limit: number;
}

/** What an account has to fetch, with what was already fetched of the same message. */
export async function dueAttachments(sql: Sql, asked: Asked): Promise<readonly DueAttachment[]> {
  const rows = await sql
    .selectFrom('attachment')
    .innerJoin('inbox', 'inbox.seq', 'attachment.inbox_seq')
    .select(['inbox_seq', 'attachment_index', 'kind', 'name', 'mime_type', 'size', 'ref'])
    .select(['attempts', 'inbox.conversation_id'])
    .select((eb) =>
      eb
        .selectFrom('attachment as sibling')
        .select((inner) => inner.fn.sum<number | null>('sibling.size').as('taken'))
        .whereRef('sibling.inbox_seq', '=', 'attachment.inbox_seq')
        .where('sibling.state', '=', 'ready')
        .as('taken'),
    )
    .where('attachment.channel', '=', asked.channel)
    .where('attachment.account', '=', asked.account)
    .where('attachment.state', '=', PENDING)
    .where('not_before', '<=', asked.now)
    .where('inbox.state', '!=', 'done')
    .orderBy('inbox_seq')
    .orderBy('attachment_index')
    .limit(asked.limit)
    .execute();
  return rows.map((row) => ({
    messageSeq: row.inbox_seq,
    index: row.attachment_index,
    conversationId: row.conversation_id,
    attempts: row.attempts,
    bytesTaken: row.taken ?? 0,
    attachment: {
      kind: row.kind,
      ref: row.ref,
      ...(row.name === null ? {} : { name: row.name }),
      ...(row.mime_type === null ? {} : { mimeType: row.mime_type }),
      ...(row.size === null ? {} : { size: row.size }),
    },
  }));
}
