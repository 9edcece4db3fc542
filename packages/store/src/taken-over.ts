import { defineStatement, type Sql } from './database.ts';
import { STATEMENT_NOW } from './shared-clock.ts';

/**
 * The maximum length of a takeover, in ms. A later end was computed before the clock was set back,
 * so it is ignored.
 */
export const MAX_TAKEOVER_MS = 24 * 60 * 60_000;

/**
 * Whether a takeover by a person is in effect; `until` is the conversation's `taken_over_until`.
 */
export function isTakenOver(until: number | null, now: number): boolean {
  return until !== null && until > now && until <= now + MAX_TAKEOVER_MS;
}

/**
 * The rule of `isTakenOver` as an SQL condition on the `conversation` table under any alias;
 * `moment` is the current time.
 */
export function buildTakenOverCondition<const Moment extends string, const Name extends string>(
  moment: Moment,
  name: Name,
) {
  return `${name}.taken_over_until > ${moment}
  and ${name}.taken_over_until <= cast(${moment} as bigint) + ${MAX_TAKEOVER_MS}` as const;
}

/**
 * What keeps turns from starting in a conversation: a person who has taken it over, or its
 * deletion, which sets the same column but does not keep a record; null if turns may start.
 */
export async function readConversationHold(
  sql: Sql,
  id: string,
  until: number | null,
  now: number,
): Promise<'person' | 'deletion' | null> {
  if (!isTakenOver(until, now)) return null;
  return (await sql.get(TAKEOVER, { id, until })) === undefined ? 'deletion' : 'person';
}

const TAKEOVER = defineStatement(`
  select seq from takeover
  where conversation_id = :id and until = :until and ended_at is null limit 1`).rows<{
  readonly seq: number;
}>();

/** Reads the current time of the clock that all processes share, in ms. */
export async function readSharedTime(sql: Sql, moment: number | null): Promise<number> {
  return (await sql.get(NOW, { moment }))?.now ?? 0;
}

const NOW = defineStatement(`select ${STATEMENT_NOW} as now`).rows<{ readonly now: number }>();
