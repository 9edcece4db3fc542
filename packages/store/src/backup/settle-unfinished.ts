import { defineDynamicStatement, defineStatement, type Sql } from '../database.ts';

/**
 * How many pieces of work were held back. `turns` and `parts` counts dead letters, `jobs` counts
 * paused jobs.
 */
export interface HeldWorkCounts {
  readonly parts: number;
  readonly turns: number;
  readonly jobs: number;
}

/** Identifies all values of one kind stored by a channel's adapters. */
export interface ForgottenValues {
  readonly channel: string;
  readonly kind: string;
}

const REASON =
  'the database has returned to an older state in which it was unfinished, and it may have been completed since';

/**
 * Settles the unfinished work in a database that was rolled back, because a backup was restored or
 * a failover lost rows. The messages may have been answered and the parts sent since then, so
 * continuing could repeat them. Unfinished work becomes dead letters, which an operator can replay.
 * Running turns are fenced.
 */
export async function settleUnfinishedWork(
  sql: Sql,
  forget: readonly ForgottenValues[],
  now: number,
): Promise<HeldWorkCounts> {
  const turns = await holdMessages(sql, now);
  const parts = await holdParts(sql, now);
  // A one-off reminder that has come due since the backup was most likely sent.
  const jobs = await sql.run(PAUSE_JOBS, { now });
  endRuns(sql, now);
  for (const { channel, kind } of forget) sql.send(FORGET, { channel, kind });
  freeLanes(sql);
  return { parts, turns, jobs };
}

/**
 * Frees all lanes, because the lanes in a restored database are not held by any worker. The raised
 * epoch fences every earlier holder.
 */
export function freeLanes(sql: Sql): void {
  sql.send(FREE_LANES);
  sql.send(FREE_SUMMARIES);
}

const FREE_LANES = defineStatement(
  'update conversation set epoch = epoch + 1, lease_owner = null, lease_until = null',
);

const FREE_SUMMARIES = defineStatement(
  'update summary set claimed_by = null, claimed_until = 0 where claimed_by is not null',
);

const FORGET = defineStatement(
  'delete from adapter_state where channel = :channel and kind = :kind',
);

/** Gives each waiting message a turn if it has none, and marks these turns as failed. */
async function holdMessages(sql: Sql, now: number): Promise<number> {
  sql.send(GIVE_TURNS, { before: `restored-${now}-`, now });
  sql.send(FAIL_MESSAGES, { now });
  const deadLetters = await sql.run(DEAD_LETTERS_OF_TURNS, { now });
  sql.send(FREE_GROUP_CONTEXT);
  sql.send(FAIL_TURNS, { now, reason: REASON });
  return deadLetters;
}

const GIVE_TURNS = defineStatement(`
  insert into turn (id, conversation_id, session, state, attempts, started_at)
  select :before || id, id, session, 'running', 0, cast(:now as bigint) from conversation
  where exists (select 1 from inbox where conversation_id = conversation.id and state = 'waiting')
    and not exists (select 1 from turn where conversation_id = conversation.id and state = 'running')`);

const FAIL_MESSAGES = defineStatement(`
  update inbox set state = 'done', outcome = 'failed', done_at = :now,
    turn_id = coalesce(turn_id, (select id from turn
      where turn.conversation_id = inbox.conversation_id and turn.state = 'running'))
  where state in ('waiting', 'claimed')`);

const DEAD_LETTERS_OF_TURNS =
  defineDynamicStatement(`insert into dead_letter (kind, subject, died_at)
  select 'unanswered', id, cast(:now as bigint) from turn
  where state = 'running' and conversation_id not like 'sub:%' and conversation_id not like 'beat:%'
    and not exists (select 1 from dead_letter where subject = turn.id and settled is null)
  order by started_at, id`);

const FREE_GROUP_CONTEXT = defineStatement(
  'update group_context set turn_id = null where turn_id is not null',
);

const FAIL_TURNS = defineStatement(`
  update turn set state = 'failed', reason = :reason, awaits = null, finished_at = :now
  where state = 'running'`);

async function holdParts(sql: Sql, now: number): Promise<number> {
  const deadLetters = await sql.run(DEAD_LETTERS_OF_PARTS, { now });
  sql.send(HOLD_PARTS, { now, reason: REASON });
  return deadLetters;
}

const DEAD_LETTERS_OF_PARTS = defineStatement(`
  insert into dead_letter (kind, subject, died_at)
  select 'uncertain', id, cast(:now as bigint) from outbox
  where state in ('pending', 'sending') and notice_of is null
    and not exists (select 1 from dead_letter where subject = outbox.id and settled is null)
  order by seq`);

const HOLD_PARTS = defineStatement(`
  update outbox set state = 'unknown', error = :reason, updated_at = :now
  where state in ('pending', 'sending')`);

const PAUSE_JOBS = defineDynamicStatement(`update cron_job set state = 'paused', next_at = null
  where state = 'on' and next_at <= :now and timetable like '%"kind":"once"%'`);

function endRuns(sql: Sql, now: number): void {
  sql.send(DROP_PLANS);
  sql.send(WITHDRAW_APPROVALS, { now });
  sql.send(STOP_SUB_AGENTS, { now });
  sql.send(FAIL_BEATS, { now, reason: REASON });
}

const DROP_PLANS = defineStatement('update conversation set plan = null where plan is not null');

const WITHDRAW_APPROVALS = defineStatement(`
  update approval set state = 'withdrawn', decided_at = :now where state = 'pending'`);

const STOP_SUB_AGENTS = defineStatement(`
  update sub_agent set state = 'stopped', finished_at = :now where state = 'running'`);

const FAIL_BEATS = defineStatement(`
  update heartbeat_run set state = 'failed', reason = :reason, held_until = null, entry = null, parts = null,
    finished_at = :now
  where state in ('running', 'waiting', 'held')`);
