import { type OutboundPart, RenderedPart, ReplyRoute } from '@parley/contracts';
import type { Selectable } from 'kysely';
import { fromCheckedJson } from '../json-column.ts';
import type { OutboxTable } from '../tables.ts';

/** The columns that make an `OutboundPart`. */
export const OUTBOX_COLUMNS = [
  'id',
  'idempotency_key',
  'turn_id',
  'notice_of',
  'route',
  'body',
] as const;

/** A stored part as the adapters know it. Throws StoreError `store-damaged`. */
export function readPart(
  row: Pick<Selectable<OutboxTable>, (typeof OUTBOX_COLUMNS)[number]>,
): OutboundPart {
  return {
    id: row.id,
    idempotencyKey: row.idempotency_key,
    turnId: row.turn_id,
    ...(row.notice_of === null ? {} : { noticeOf: row.notice_of }),
    route: fromCheckedJson(ReplyRoute, row.route, `route of part ${row.id}`),
    body: fromCheckedJson(RenderedPart, row.body, `text of part ${row.id}`),
  };
}
