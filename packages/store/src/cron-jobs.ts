import { InboundMessage, ReplyRoute, Timetable } from '@parley/contracts';
import type { Generated, Insertable, Selectable } from 'kysely';
import { ensureConversation, lockConversation } from './conversations.ts';
import type { Database, Sql } from './database.ts';
import { newInboxRow } from './inbox-rows.ts';
import { fromCheckedJson, toJson } from './json-column.ts';
import { ON_JOB } from './literals.ts';
import type { ChatKey } from './outbox-parts.ts';
import type { AdmittedMessage } from './rows.ts';

/** `over`: it was for once, or it has failed for good. */
export type CronJobState = 'on' | 'paused' | 'over';

/** A job as it is asked for. Times in ms. */
export interface NewCronJob {
  /** Short, for people; unique. */
  readonly id: string;
  /** The call or command that asks for it: the same again finds the job that it made. */
  readonly askedBy: string;
  /** Where it was asked for, and where its answers go (H08). */
  readonly conversationId: string;
  readonly route: ReplyRoute;
  /** The message of the person who asked: whose job it is, and in which chat. */
  readonly origin: InboundMessage;
  readonly fromOwner: boolean;
  readonly title: string;
  /** What is to be done when its time comes, in the person’s or the model’s words. */
  readonly task: string;
  readonly timetable: Timetable;
  readonly nextAt: number;
}

/** A standing job, and how it went. */
export interface CronJob extends Omit<NewCronJob, 'nextAt'> {
  readonly state: CronJobState;
  /** Null unless it is on. */
  readonly nextAt: number | null;
  /** Runs that failed in a row. */
  readonly failures: number;
  readonly lastAt: number | null;
  /** Of the last run: `answered`, `silent`, `failed`, `stopped`; null while it is under way. */
  readonly lastOutcome: string | null;
  readonly createdAt: number;
}

/** How many jobs there may be: in one conversation, and in all. */
export interface CronBounds {
  readonly perConversation: number;
  readonly total: number;
}

/** What people and the model may change of a job. */
export type CronChange = Partial<
  Pick<CronJob, 'title' | 'task' | 'timetable' | 'nextAt' | 'state' | 'failures'>
>;

/**
 * Jobs with a timetable (H08), table `cron_job`. The command `/cron`, the agent's tool and the page change them;
 * the scheduler reads and fires them. Reading changes nothing.
 */
export type CronJobRepository = ReturnType<typeof cronJobRepository>;

export function cronJobRepository(database: Database) {
  return {
    /** `known`: the same call has made it already. */
    add: (job: NewCronJob, bounds: CronBounds, now: number) =>
      database.write((sql) => addJob(sql, job, bounds, now)),
    get: (id: string) => database.read((sql) => oneJob(sql, 'id', id)),
    /** The job that a call or command has made. */
    find: (askedBy: string) => database.read((sql) => oneJob(sql, 'asked_by', askedBy)),
    /** Of one conversation, or all, in the order in which they were made. */
    list: (conversationId?: string): Promise<readonly CronJob[]> =>
      database.read(async (sql) => {
        const all = sql.selectFrom('cron_job').selectAll().orderBy('created_at').orderBy('id');
        const query =
          conversationId === undefined ? all : all.where('conversation_id', '=', conversationId);
        return (await query.execute()).map(readCronJob);
      }),
    /** Those whose time has come, the longest overdue first. */
    due: (now: number, limit: number) => database.read((sql) => dueJobs(sql, now, limit)),
    /** When the next one is due; null when none is on. */
    nextAt: () => database.read(nextDue),
    /**
     * Puts the message of a due job into its conversation and moves the job on, in one transaction; the
     * job belongs to that conversation from then on. False when it has been moved, paused or removed
     * meanwhile: somebody else has done it. `nextAt` null: that was the last time.
     */
    fire: (
      job: Pick<CronJob, 'id' | 'nextAt'>,
      message: AdmittedMessage,
      nextAt: number | null,
      now: number,
    ) => database.write((sql) => fireJob(sql, job, message, nextAt, now)),
    /** Jobs whose last run is over but not settled, with how it ended. */
    unsettled: (limit: number) => database.read((sql) => unsettledJobs(sql, limit)),
    /** Gives a job another time without a run. False as for `fire`. */
    postpone: (job: Pick<CronJob, 'id' | 'nextAt'>, nextAt: number) =>
      database.write((sql) => postponeJob(sql, job, nextAt)),
    /**
     * Notes how the last run ended, once; `then` changes the job with it (backoff, pause). False when it
     * is noted, or the job has been changed since it was read.
     */
    settle: (
      job: Pick<CronJob, 'id' | 'lastAt' | 'state' | 'nextAt'>,
      outcome: string,
      then: CronChange,
    ) => database.write((sql) => settleJob(sql, job, outcome, then)),
    /** False when there is no such job. */
    change: (id: string, change: CronChange) => database.write((sql) => changeJob(sql, id, change)),
    remove: (id: string): Promise<boolean> =>
      database.write(async (sql) => {
        const gone = sql.deleteFrom('cron_job').where('id', '=', id).returning('id');
        return (await gone.executeTakeFirst()) !== undefined;
      }),
  };
}

async function oneJob(sql: Sql, column: 'id' | 'asked_by', value: string): Promise<CronJob | null> {
  const query = sql.selectFrom('cron_job').selectAll().where(column, '=', value);
  const row = await query.executeTakeFirst();
  return row === undefined ? null : readCronJob(row);
}

async function addJob(
  sql: Sql,
  job: NewCronJob,
  { perConversation, total }: CronBounds,
  now: number,
): Promise<'added' | 'known' | 'full'> {
  const added = await sql
    .insertInto('cron_job')
    .values(newCronJobRow(job, now))
    .onConflict((conflict) => conflict.column('asked_by').doNothing())
    .returning('id')
    .executeTakeFirst();
  if (added === undefined) return 'known';
  // Counted with the new one in place; jobs that are over keep nobody from asking for another.
  const { here, all } = await sql
    .selectFrom('cron_job')
    .select(({ fn, eb }) => [
      fn.countAll<number>().as('all'),
      fn
        .sum<number>(
          eb.case().when('conversation_id', '=', job.conversationId).then(1).else(0).end(),
        )
        .as('here'),
    ])
    .where('state', '!=', 'over')
    .executeTakeFirstOrThrow();
  if (Number(here) <= perConversation && all <= total) return 'added';
  await sql.deleteFrom('cron_job').where('id', '=', job.id).execute();
  return 'full';
}

async function changeJob(sql: Sql, id: string, change: CronChange): Promise<boolean> {
  const columns = changedColumns(change);
  if (Object.keys(columns).length === 0) return false;
  const changed = sql.updateTable('cron_job').set(columns).where('id', '=', id).returning('id');
  return (await changed.executeTakeFirst()) !== undefined;
}

async function dueJobs(sql: Sql, now: number, limit: number): Promise<readonly CronJob[]> {
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

async function nextDue(sql: Sql): Promise<number | null> {
  const row = await sql
    .selectFrom('cron_job')
    .select('next_at')
    .where('state', '=', ON_JOB)
    .orderBy('next_at')
    .limit(1)
    .executeTakeFirst();
  return row?.next_at ?? null;
}

async function fireJob(
  sql: Sql,
  job: Pick<CronJob, 'id' | 'nextAt'>,
  message: AdmittedMessage,
  nextAt: number | null,
  now: number,
): Promise<boolean> {
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

async function unsettledJobs(
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

async function postponeJob(
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

async function settleJob(
  sql: Sql,
  job: Pick<CronJob, 'id' | 'lastAt' | 'state' | 'nextAt'>,
  outcome: string,
  then: CronChange,
): Promise<boolean> {
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

/** Jobs go with a chat that gets a new id, such as a group that becomes a supergroup (H08). */
export async function moveCronJobs(
  sql: Sql,
  { channel, account, chatId }: ChatKey,
  newChatId: string,
): Promise<void> {
  // There are few of them, and no column tells their chat.
  const rows = await sql.selectFrom('cron_job').select(['id', 'origin', 'route']).execute();
  for (const row of rows) {
    const route = fromCheckedJson(ReplyRoute, row.route, `reply route of the job ${row.id}`);
    const isThere = route.channel === channel && route.account === account;
    if (!isThere || route.chatId !== chatId) continue;
    const origin = fromCheckedJson(InboundMessage, row.origin, `message of the job ${row.id}`);
    const chat = { ...origin.chat, id: newChatId };
    await sql
      .updateTable('cron_job')
      .set({
        origin: toJson({ ...origin, chat }),
        route: toJson({ ...route, chatId: newChatId }),
      })
      .where('id', '=', row.id)
      .execute();
  }
}

/** A stored job as the other packages know it. Throws StoreError `store-damaged`. */
function readCronJob(row: Selectable<CronJobTable>): CronJob {
  const what = `of the job ${row.id}`;
  return {
    id: row.id,
    askedBy: row.asked_by,
    conversationId: row.conversation_id,
    origin: fromCheckedJson(InboundMessage, row.origin, `message ${what}`),
    route: fromCheckedJson(ReplyRoute, row.route, `reply route ${what}`),
    fromOwner: row.from_owner === 1,
    title: row.title,
    task: row.task,
    timetable: fromCheckedJson(Timetable, row.timetable, `timetable ${what}`),
    state: row.state,
    nextAt: row.next_at,
    failures: row.failures,
    lastAt: row.last_at,
    lastOutcome: row.last_outcome,
    createdAt: row.created_at,
  };
}

/** The row of a job that was just asked for. */
function newCronJobRow(job: NewCronJob, now: number): Insertable<CronJobTable> {
  return {
    id: job.id,
    asked_by: job.askedBy,
    conversation_id: job.conversationId,
    origin: toJson(job.origin),
    route: toJson(job.route),
    from_owner: job.fromOwner ? 1 : 0,
    title: job.title,
    task: job.task,
    timetable: toJson(job.timetable),
    state: 'on',
    next_at: job.nextAt,
    created_at: now,
  };
}

/** The columns that a change concerns; a job that is not on has no next time. */
function changedColumns({ timetable, nextAt, state, title, task, failures }: CronChange) {
  return {
    ...(title !== undefined && { title }),
    ...(task !== undefined && { task }),
    ...(failures !== undefined && { failures }),
    ...(timetable !== undefined && { timetable: toJson(timetable) }),
    ...(nextAt !== undefined && { next_at: nextAt }),
    ...(state !== undefined && { state }),
    ...(state !== undefined && state !== 'on' && { next_at: null }),
  };
}

/** Jobs with a timetable; `last_message` is the id of the message that their last run began with. */
export interface CronJobTable {
  id: string;
  asked_by: string;
  conversation_id: string;
  origin: string;
  route: string;
  from_owner: number;
  title: string;
  task: string;
  timetable: string;
  state: CronJobState;
  next_at: number | null;
  failures: Generated<number>;
  last_at: Generated<number | null>;
  last_message: Generated<string | null>;
  last_outcome: Generated<string | null>;
  created_at: number;
}
