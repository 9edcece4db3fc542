import { ReplyRoute } from '@parley/core';
import { decodeCheckedJson, defineStatement, type Sql } from './database.ts';
import type { Lease } from './rows.ts';
import { dropTurn } from './turn-runs.ts';

/** A request to give up a lane's waiting messages because claiming them crashes every process. */
export interface LaneDropRequest {
  readonly lease: Lease;
  readonly session: number;
  /** The id of the turn under which the messages are recorded as a dead letter. */
  readonly turnId: string;
  readonly reason: string;
  readonly now: number;
}

/**
 * Closes a lane's unfinished turn and all of its waiting messages as dead letters. Does not read
 * the message text, because it may be what crashes the process. Returns the newest message's route,
 * for a notice, or null if no message was waiting. The caller has locked the lane.
 */
export async function dropWaitingMessages(
  sql: Sql,
  dropping: LaneDropRequest,
): Promise<ReplyRoute | null> {
  const { session, turnId, reason, now } = dropping;
  const { conversationId } = dropping.lease;
  const unfinished = await sql.get(UNFINISHED, { conversationId });
  if (unfinished !== undefined) {
    dropTurn(sql, { turnId: unfinished.id, conversationId }, reason, now);
  }
  const newest = await sql.get(NEWEST_ROUTE, { conversationId });
  if (newest !== undefined) {
    sql.send(BEGIN, { turnId, conversationId, session, now });
    sql.send(CLAIM, { turnId, conversationId, now });
    dropTurn(sql, { turnId, conversationId }, reason, now);
  }
  const last = newest ?? (unfinished && (await sql.get(ROUTE_OF, { turnId: unfinished.id })));
  return last === undefined
    ? null
    : decodeCheckedJson(ReplyRoute, last.route, 'reply route of a message that was given up');
}

// States are literals, because a partial index is used only if the query contains the index
// condition.
const UNFINISHED = defineStatement(
  "select id from turn where conversation_id = :conversationId and state = 'running'",
).rows<{ readonly id: string }>();

const NEWEST_ROUTE = defineStatement(`
  select route from inbox where conversation_id = :conversationId and state = 'waiting'
  order by seq desc limit 1`).rows<{ readonly route: string }>();

const ROUTE_OF = defineStatement(
  'select route from inbox where turn_id = :turnId order by seq desc limit 1',
).rows<{ readonly route: string }>();

const BEGIN = defineStatement(`
  insert into turn (id, conversation_id, session, state, attempts, started_at)
  values (:turnId, :conversationId, :session, 'running', 0, :now)`);

const CLAIM = defineStatement(`
  update inbox set state = 'claimed', turn_id = :turnId, claimed_at = :now
  where conversation_id = :conversationId and state = 'waiting'`);
