import { type NewId, PartExtras, RenderedPart, ReplyRoute } from '@parley/contracts';
import type { Selectable } from 'kysely';
import { z } from 'zod';
import type { Sql } from '../database.ts';
import type { BeatAlert, BeatTurn } from '../heartbeats.ts';
import { fromCheckedJson, toJson } from '../json-column.ts';
import type { Lease } from '../rows.ts';
import type { BeatTable } from '../tables/heartbeat-tables.ts';
import { commitTurn } from './commit-turn.ts';
import { lockConversation } from './conversation.ts';
import { HELD_ALERT, RUNNING } from './literals.ts';
import { insertParts } from './new-parts.ts';

interface Ending {
  readonly lease: Lease;
  readonly turn: BeatTurn;
  readonly now: number;
  readonly newId: NewId;
}

/** Ends the turn of a run, its row, and tells or holds its alert: all of it, or nothing. */
export async function endBeat(
  sql: Sql,
  { lease, turn, now, newId }: Ending,
): Promise<'committed' | 'fenced'> {
  const run = await sql
    .selectFrom('beat')
    .select(['id', 'target'])
    .where('id', '=', turn.id)
    .where('state', '=', RUNNING)
    .executeTakeFirst();
  if (run === undefined) return 'fenced';
  // Before the lane: the lock order.
  await lockConversation(sql, run.target);
  const { commit, alert } = turn;
  if ((await commitTurn(sql, { lease, commit, now, newId })) === null) return 'fenced';
  await beginSession(sql, lease.conversationId);
  const isHeld = alert?.heldUntil !== undefined && alert.heldUntil > now;
  await sql
    .updateTable('beat')
    .set({
      state: isHeld ? 'held' : turn.state,
      reason: turn.reason,
      turn_id: commit.turnId,
      input_tokens: commit.usage?.inputTokens ?? 0,
      output_tokens: commit.usage?.outputTokens ?? 0,
      finished_at: now,
      alert: alert?.text ?? null,
      fingerprint: alert?.fingerprint ?? null,
      ...(isHeld && heldColumns(alert)),
    })
    .where('id', '=', turn.id)
    .execute();
  if (alert !== undefined && !isHeld) {
    await tell(sql, { ...alert, target: run.target, turnId: commit.turnId }, now, newId);
  }
  return 'committed';
}

/** Each run is a session of its own: what was fixed for one holds no longer for the next. */
async function beginSession(sql: Sql, lane: string): Promise<void> {
  await sql
    .updateTable('conversation')
    .set((eb) => ({ session: eb('session', '+', 1) }))
    .where('id', '=', lane)
    .execute();
}

const Entry = z.object({
  role: z.enum(['user', 'assistant', 'tool', 'system']),
  content: z.unknown(),
});
const Parts = z.array(z.object({ route: ReplyRoute, body: RenderedPart, ...PartExtras.shape }));

function heldColumns({ heldUntil, entry, parts }: BeatAlert) {
  return { held_until: heldUntil ?? null, entry: toJson(entry), parts: toJson(parts) };
}

/** Lets go of the alerts whose time has come, the oldest first; where their parts went. */
export async function releaseBeats(
  sql: Sql,
  now: number,
  newId: NewId,
): Promise<readonly ReplyRoute[]> {
  const due = sql
    .selectFrom('beat')
    .select('target')
    .distinct()
    .where('state', '=', HELD_ALERT)
    .where('held_until', '<=', now)
    .orderBy('target');
  // All of them first, and by id: the lock order.
  const targets = (await due.execute()).map(({ target }) => target);
  for (const target of targets) await lockConversation(sql, target);
  if (targets.length === 0) return [];
  const rows = await sql
    .updateTable('beat')
    .set({ state: 'alerted' })
    .where('state', '=', HELD_ALERT)
    .where('held_until', '<=', now)
    .where('target', 'in', targets)
    .returning(['id', 'target', 'turn_id', 'entry', 'parts', 'finished_at'])
    .execute();
  const routes: ReplyRoute[] = [];
  for (const row of rows.toSorted(byEnd)) {
    const parts = fromCheckedJson(Parts, row.parts ?? '', `parts of the alert ${row.id}`);
    const entry = fromCheckedJson(Entry, row.entry ?? '', `words of the alert ${row.id}`);
    const turnId = row.turn_id ?? '';
    await tell(sql, { entry, parts, target: row.target, turnId }, now, newId);
    routes.push(...parts.map(({ route }) => route));
  }
  const ids = rows.map(({ id }) => id);
  if (ids.length > 0) {
    // What was said stands in the history and in the outbox now.
    await sql
      .updateTable('beat')
      .set({ entry: null, parts: null, held_until: null })
      .where('id', 'in', ids)
      .execute();
  }
  return routes;
}

type Released = Pick<Selectable<BeatTable>, 'finished_at'>;

function byEnd(one: Released, other: Released): number {
  return (one.finished_at ?? 0) - (other.finished_at ?? 0);
}

interface Telling extends Pick<BeatAlert, 'entry' | 'parts'> {
  readonly target: string;
  readonly turnId: string;
}

/** Puts an alert into the outbox and into the history of the conversation that it belongs to. */
async function tell(
  sql: Sql,
  { entry, parts, target, turnId }: Telling,
  now: number,
  newId: NewId,
): Promise<void> {
  const place = await sql
    .selectFrom('conversation')
    .select('session')
    .where('id', '=', target)
    .executeTakeFirstOrThrow();
  await sql
    .insertInto('transcript')
    .values({
      conversation_id: target,
      session: place.session,
      turn_id: turnId,
      role: entry.role,
      content: toJson(entry.content),
      created_at: now,
    })
    .execute();
  insertParts(sql, parts, { turnId, now, newId });
}
