import type { CronChange, CronJob } from '../cron-jobs.ts';
import type { Sql } from '../database.ts';
import type { AdmittedMessage } from '../rows.ts';
import { ensureConversation, lockConversation } from './conversation.ts';
import { changedColumns, readCronJob } from './cron-job-row.ts';
import { newInboxRow } from './inbox-row.ts';
import { ON_JOB } from './literals.ts';

/** Jobs whose time has come, the longest overdue first. */
export async function dueJobs(sql: Sql, now: number, limit: number): Promise<readonly CronJob[]> {
  const rows = await sql
    .selectFrom('cron_job')
    .selectAll()
    .where('state', '=', ON_JOB)
    .where('next_at', '<=', now)
    .orderBy('next_at')
    .limit(limit)
    .execute();
  return rows.map(readCronJob);
}

/** When the next job is due; null when none is on. */
export async function nextDue(sql: Sql): Promise<number | null> {
  const row = await sql
    .selectFrom('cron_job')
    .select('next_at')
    .where('state', '=', ON_JOB)
    .orderBy('next_at')
    .limit(1)
    .executeTakeFirst();
  return row?.next_at ?? null;
}

interface Firing {
  readonly job: Pick<CronJob, 'id' | 'nextAt'>;
  readonly message: AdmittedMessage;
  readonly nextAt: number | null;
  readonly now: number;
}

/** Moves a due job on and puts its message into its conversation: both, and only once. */
export async function fireJob(sql: Sql, { job, message, nextAt, now }: Firing): Promise<boolean> {
  if (job.nextAt === null) return false;
  ensureConversation(sql, message.conversationId, now);
  await lockConversation(sql, message.conversationId);
  const taken = await sql
    .updateTable('cron_job')
    .set({
      conversation_id: message.conversationId,
      next_at: nextAt,
      state: nextAt === null ? 'over' : 'on',
      last_at: now,
      last_message: message.message.messageId,
      last_outcome: null,
    })
    .where('id', '=', job.id)
    .where('next_at', '=', job.nextAt)
    .where('state', '=', ON_JOB)
    .returning('id')
    .executeTakeFirst();
  if (taken === undefined) return false;
  await sql.insertInto('inbox').values(newInboxRow(message, 'waiting')).execute();
  return true;
}

/** Jobs whose last run is over, but what it came to is not noted yet. */
export async function unsettledJobs(
  sql: Sql,
  limit: number,
): Promise<readonly (CronJob & { readonly outcome: string })[]> {
  const rows = await sql
    .selectFrom('cron_job')
    .innerJoin('inbox', (join) =>
      join
        .onRef('inbox.message_id', '=', 'cron_job.last_message')
        .onRef('inbox.conversation_id', '=', 'cron_job.conversation_id'),
    )
    .selectAll('cron_job')
    .select('inbox.outcome')
    .where('cron_job.last_message', 'is not', null)
    .where('cron_job.last_outcome', 'is', null)
    .where('inbox.state', '=', 'done')
    .orderBy('cron_job.last_at')
    .limit(limit)
    .execute();
  return rows.map(({ outcome, ...row }) => ({ ...readCronJob(row), outcome: outcome ?? 'silent' }));
}

/** Gives a job that is on another time, unless it has another one already. */
export async function postponeJob(
  sql: Sql,
  { id, nextAt: before }: Pick<CronJob, 'id' | 'nextAt'>,
  nextAt: number,
): Promise<boolean> {
  if (before === null) return false;
  const moved = await sql
    .updateTable('cron_job')
    .set({ next_at: nextAt })
    .where('id', '=', id)
    .where('next_at', '=', before)
    .where('state', '=', ON_JOB)
    .returning('id')
    .executeTakeFirst();
  return moved !== undefined;
}

interface Settling {
  readonly job: Pick<CronJob, 'id' | 'lastAt' | 'state' | 'nextAt'>;
  readonly outcome: string;
  readonly then: CronChange;
}

/** Notes how a run has ended, unless that is noted, another one has begun, or a person was quicker. */
export async function settleJob(sql: Sql, { job, outcome, then }: Settling): Promise<boolean> {
  const settled = await sql
    .updateTable('cron_job')
    .set({ ...changedColumns(then), last_outcome: outcome })
    .where('id', '=', job.id)
    .where('last_at', '=', job.lastAt)
    .where('last_outcome', 'is', null)
    .where('state', '=', job.state)
    .where('next_at', job.nextAt === null ? 'is' : '=', job.nextAt)
    .returning('id')
    .executeTakeFirst();
  return settled !== undefined;
}
