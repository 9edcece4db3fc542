import type { NewId } from '@parley/contracts';
import type { Insertable } from 'kysely';
import type { Sql } from '../database.ts';
import { toJson } from '../json-column.ts';
import { idempotencyKeyOf } from '../new-id.ts';
import type { NewPart } from '../rows.ts';
import type { OutboxTable } from '../tables/outbound-tables.ts';

/** Who wrote the parts (null: no turn did), about which other part if any, and when. */
interface Origin {
  readonly turnId: string | null;
  readonly noticeOf?: string;
  readonly now: number;
  readonly newId: NewId;
  /** The message that they answer, where no turn does. */
  readonly answers?: number;
  readonly trace?: string | undefined;
}

/** Puts parts at the end of the outbox, in the order given, inside the caller's transaction. */
export async function insertParts(
  sql: Sql,
  parts: readonly NewPart[],
  origin: Origin,
): Promise<void> {
  if (parts.length === 0) return;
  const rows = parts.map((part, index) => newOutboxRow(part, index, origin));
  await sql.insertInto('outbox').values(rows).execute();
}

/** A part as a row that waits to be sent. */
export function newOutboxRow(
  { route, body, buttons, file }: NewPart,
  index: number,
  { turnId, noticeOf, now, newId, answers, trace }: Origin,
): Insertable<OutboxTable> {
  const id = newId('part');
  return {
    id,
    idempotency_key: idempotencyKeyOf(id),
    turn_id: turnId,
    part_index: turnId === null ? null : index,
    notice_of: noticeOf ?? null,
    channel: route.channel,
    account: route.account,
    chat_id: route.chatId,
    route: toJson(route),
    body: toJson({ ...body, buttons, file }),
    state: 'pending',
    not_before: now,
    created_at: now,
    updated_at: now,
    answers: answers ?? null,
    trace: trace ?? null,
  };
}
