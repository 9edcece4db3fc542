import { type OutboundPart, PartExtras, RenderedPart, ReplyRoute } from '@parley/contracts';
import type { Selectable } from 'kysely';
import { fromCheckedJson } from '../json-column.ts';
import type { OutboxTable } from '../tables/outbound-tables.ts';

/** The columns that make an `OutboundPart`. */
export const OUTBOX_COLUMNS = [
  'id',
  'idempotency_key',
  'turn_id',
  'part_index',
  'notice_of',
  'route',
  'body',
] as const;

/** What stands in the column `body`. */
const Body = RenderedPart.extend(PartExtras.shape);

/** A stored part as the adapters know it. Throws StoreError `store-damaged`. */
export function readPart(
  row: Pick<Selectable<OutboxTable>, (typeof OUTBOX_COLUMNS)[number]>,
): OutboundPart {
  const { text, plain, ...extras } = fromCheckedJson(Body, row.body, `text of part ${row.id}`);
  return {
    id: row.id,
    idempotencyKey: row.idempotency_key,
    // What a turn posted to another chat is no part of its answer.
    turnId: row.part_index === null ? null : row.turn_id,
    index: row.part_index,
    ...(row.notice_of === null ? {} : { noticeOf: row.notice_of }),
    route: fromCheckedJson(ReplyRoute, row.route, `route of part ${row.id}`),
    body: { text, plain },
    ...extras,
  };
}
