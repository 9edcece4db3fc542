import type { Sql } from '../database.ts';
import { raw } from '../kysely.ts';
import { HELD_ALERT, ON_JOB, OPEN_APPROVAL, RUNNING, UNFINISHED } from '../literals.ts';

/** What was held back, for people. `turns` and `parts` are dead letters now, `jobs` are paused. */
export interface HeldBack {
  readonly parts: number;
  readonly turns: number;
  readonly jobs: number;
}

/** All values of one kind that adapters of one channel keep. */
export interface ForgottenValues {
  readonly channel: string;
  readonly kind: string;
}

const REASON = 'it was not finished in the backup, and may have been since';

/**
 * Since the backup was made somebody may have answered what waits in it, and sent what was to be sent;
 * doing it once more would repeat it. So it becomes dead letters, which an operator can replay.
 */
export async function holdBack(
  sql: Sql,
  forget: readonly ForgottenValues[],
  now: number,
): Promise<HeldBack> {
  const turns = await holdMessages(sql, now);
  const parts = await holdParts(sql, now);
  const jobs = await holdJobs(sql, now);
  await endRuns(sql, now);
  for (const { channel, kind } of forget) {
    await sql
      .deleteFrom('adapter_value')
      .where('channel', '=', channel)
      .where('kind', '=', kind)
      .execute();
  }
  return { parts, turns, jobs };
}

/** What waits gets a turn, where it has none, and each of these turns has failed. */
async function holdMessages(sql: Sql, now: number): Promise<number> {
  const before = `restored-${now}-`;
  await raw`insert into turn (id, conversation_id, session, state, attempts, started_at)
    select ${raw.lit(before)} || id, id, session, 'running', 0, ${raw.lit(now)} from conversation
    where exists (select 1 from inbox where conversation_id = conversation.id and state = 'waiting')
      and not exists (select 1 from turn where conversation_id = conversation.id and state = 'running')`.execute(
    sql,
  );
  await raw`update inbox set state = 'done', outcome = 'failed', done_at = ${raw.lit(now)},
    turn_id = coalesce(turn_id, (select id from turn
      where turn.conversation_id = inbox.conversation_id and turn.state = 'running'))
    where state in ('waiting', 'claimed')`.execute(sql);
  const letters = await raw`insert into dead_letter (kind, subject, died_at)
    select 'unanswered', id, ${raw.lit(now)} from turn
    where state = 'running' and conversation_id not like 'sub:%' and conversation_id not like 'beat:%'
      and not exists (select 1 from dead_letter where subject = turn.id and settled is null)
    order by started_at, id`.execute(sql);
  await sql
    .updateTable('overheard')
    .set({ turn_id: null })
    .where('turn_id', 'is not', null)
    .execute();
  await sql
    .updateTable('turn')
    .set({ state: 'failed', reason: REASON, awaits: null, finished_at: now })
    .where('state', '=', RUNNING)
    .execute();
  return Number(letters.numAffectedRows ?? 0);
}

async function holdParts(sql: Sql, now: number): Promise<number> {
  const letters = await raw`insert into dead_letter (kind, subject, died_at)
    select 'uncertain', id, ${raw.lit(now)} from outbox
    where state in ('pending', 'sending') and notice_of is null
      and not exists (select 1 from dead_letter where subject = outbox.id and settled is null)
    order by seq`.execute(sql);
  await sql
    .updateTable('outbox')
    .set({ state: 'unknown', error: REASON, updated_at: now })
    .where('state', 'in', UNFINISHED)
    .execute();
  return Number(letters.numAffectedRows ?? 0);
}

/** A reminder for once that was due since then was most likely given. */
async function holdJobs(sql: Sql, now: number): Promise<number> {
  const paused = await sql
    .updateTable('cron_job')
    .set({ state: 'paused', next_at: null })
    .where('state', '=', ON_JOB)
    .where('next_at', '<=', now)
    .where('timetable', 'like', '%"kind":"once"%')
    .executeTakeFirst();
  return Number(paused.numUpdatedRows);
}

async function endRuns(sql: Sql, now: number): Promise<void> {
  await sql.updateTable('conversation').set({ plan: null }).where('plan', 'is not', null).execute();
  await sql
    .updateTable('approval')
    .set({ state: 'withdrawn', decided_at: now })
    .where('state', '=', OPEN_APPROVAL)
    .execute();
  await sql
    .updateTable('sub_agent')
    .set({ state: 'stopped', finished_at: now })
    .where('state', '=', RUNNING)
    .execute();
  await sql
    .updateTable('beat')
    .set({
      state: 'failed',
      reason: REASON,
      held_until: null,
      entry: null,
      parts: null,
      finished_at: now,
    })
    .where('state', 'in', [RUNNING, HELD_ALERT])
    .execute();
}
