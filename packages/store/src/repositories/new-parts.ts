import type { NewId, OutboundPart } from '@parley/contracts';
import type { Sql } from '../database.ts';
import { toJson } from '../json-column.ts';
import { idempotencyKeyOf } from '../new-id.ts';
import type { NewPart } from '../rows.ts';
import { statement } from '../statement.ts';

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

const INSERT = `
  insert into outbox (id, idempotency_key, turn_id, part_index, notice_of, channel, account, chat_id,
    route, body, state, not_before, created_at, updated_at, answers, trace)
  values (:id, :key, :turnId, :index, :noticeOf, :channel, :account, :chatId,
    :route, :body, 'pending', :now, :now, :now, :answers, :trace)`;
const INSERT_PART = statement(INSERT);
const INSERT_ONCE = statement(`${INSERT} on conflict do nothing`);

/**
 * Puts parts at the end of the outbox, in the order given, inside the caller's transaction. Returns them as
 * a later reading of their rows would.
 */
export function insertParts(
  sql: Sql,
  parts: readonly NewPart[],
  origin: Origin,
): readonly OutboundPart[] {
  const { turnId, noticeOf } = origin;
  return parts.map((part, index) => {
    const row = newRow(part, origin.newId('part'), index, origin);
    sql.send(INSERT_PART, row);
    return {
      ...part,
      id: row.id,
      idempotencyKey: row.key,
      turnId,
      index: row.index,
      isLast: turnId === null || index === parts.length - 1,
      ...(noticeOf === undefined ? {} : { noticeOf }),
    };
  });
}

/** Puts a part that belongs to no answer at the end, under an id of its own; false when that is there. */
export async function insertPartOnce(
  sql: Sql,
  id: string,
  part: NewPart,
  by: Pick<Origin, 'turnId' | 'now'>,
): Promise<boolean> {
  return (await sql.run(INSERT_ONCE, { ...newRow(part, id, 0, by), index: null })) > 0;
}

/** A part as a row that waits to be sent. */
function newRow(
  { route, body, buttons, file }: NewPart,
  id: string,
  index: number,
  { turnId, noticeOf, now, answers, trace }: Omit<Origin, 'newId'>,
) {
  return {
    id,
    key: idempotencyKeyOf(id),
    turnId,
    index: turnId === null ? null : index,
    noticeOf: noticeOf ?? null,
    channel: route.channel,
    account: route.account,
    chatId: route.chatId,
    route: toJson(route),
    body: toJson({ ...body, buttons, file }),
    now,
    answers: answers ?? null,
    trace: trace ?? null,
  };
}
