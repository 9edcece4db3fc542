import { defineStatement, type Sql } from './database.ts';
import { releaseGroupContext } from './group-context.ts';

/** A turn that cannot be answered now, and when to try again (ms). */
export interface PostponedTurn {
  readonly turnId: string;
  readonly until: number;
  /** The reason as shown to people. */
  readonly reason: string;
}

/**
 * The longest delay until the next attempt, in ms. A later time must have been computed before the
 * clock was set back, so it is ignored.
 */
const MAX_PUT_OFF_MS = 3_600_000;

/** `isPostponed` as an SQL condition on the `turn` table; `moment` is the current time. */
export function buildPostponedCondition<const Moment extends string>(moment: Moment) {
  return `turn.put_off_until > ${moment}
  and turn.put_off_until <= cast(${moment} as bigint) + ${MAX_PUT_OFF_MS}` as const;
}

export function isPostponed(until: number | null, now: number): boolean {
  return until !== null && until > now && until <= now + MAX_PUT_OFF_MS;
}

/**
 * Postpones a running turn without counting this start as an attempt, because it did not crash its
 * worker.
 */
export async function postponeTurn(
  sql: Sql,
  conversationId: string,
  { turnId, until, reason }: PostponedTurn,
  now: number,
): Promise<boolean> {
  return (await sql.run(PUT_OFF, { conversationId, turnId, until, reason, now })) > 0;
}

const PUT_OFF = defineStatement(`
  update turn set put_off_since = coalesce(put_off_since, :now), put_off_until = :until,
    reason = :reason, attempts = attempts - 1
  where id = :turnId and conversation_id = :conversationId and state = 'running'`);

/** Ends a running turn and returns its messages to the queue, ahead of newer ones. */
export function requeueTurnMessages(
  sql: Sql,
  conversationId: string,
  turnId: string,
  now: number,
): void {
  sql.send(END, { turnId, now });
  sql.send(RETURN_MESSAGES_TO_INBOX, { turnId });
  releaseGroupContext(sql, conversationId, turnId);
}

const END = defineStatement(`
  update turn set state = 'interrupted', finished_at = :now, reason = 'interrupted by a later message'
  where id = :turnId`);

const RETURN_MESSAGES_TO_INBOX = defineStatement(`
  update inbox set state = 'waiting', turn_id = null, claimed_at = null,
    interruptions = interruptions + 1
  where turn_id = :turnId`);
