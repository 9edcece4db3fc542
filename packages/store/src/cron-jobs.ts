import { InboundMessage, ReplyRoute, Timetable } from '@parley/core';
import { ensureConversation, lockConversation } from './conversations.ts';
import {
  type Database,
  decodeCheckedJson,
  defineStatement,
  encodeJson,
  type Sql,
} from './database.ts';
import { type AdmittedMessage, addMessage } from './rows.ts';

/** `over`: a one-off job that has run, or a job that has failed for the last time. */
export type CronJobState = 'on' | 'paused' | 'over';

/** A request to create a job; times are in ms. */
export interface NewCronJob {
  /** Unique, and short enough for people to type. */
  readonly id: string;
  /** The call or command that requested the job; a repeated request finds the same job. */
  readonly askedBy: string;
  /** The conversation in which the job was requested and in which its answers appear (H08). */
  readonly conversationId: string;
  readonly route: ReplyRoute;
  /** The message in which a person requested the job; it determines the job's owner and chat. */
  readonly origin: InboundMessage;
  readonly fromOwner: boolean;
  readonly title: string;
  /** The task, as written by the person or the model. */
  readonly task: string;
  readonly timetable: Timetable;
  readonly nextAt: number;
}

/** A job with the outcome of its last run. */
export interface CronJob extends Omit<NewCronJob, 'nextAt'> {
  readonly state: CronJobState;
  /** The next run, in ms; null unless the job is on. */
  readonly nextAt: number | null;
  /** The number of consecutive failed runs. */
  readonly failures: number;
  readonly lastAt: number | null;
  /**
   * The outcome of the last run: `answered`, `silent`, `failed`, `stopped`; null while a run is in
   * progress.
   */
  readonly lastOutcome: string | null;
  readonly createdAt: number;
}

/**
 * The maximum number of jobs, per conversation and in total. A non-owner may have as many jobs
 * across all chats as one conversation allows, and the last tenth of the total is reserved for
 * owners.
 */
export interface CronJobLimits {
  readonly perConversation: number;
  readonly total: number;
}

/**
 * What people and the model may change in a job. A change of chat takes effect with the job's next
 * run.
 */
export type CronJobChange = Partial<
  Pick<CronJob, 'title' | 'task' | 'timetable' | 'nextAt' | 'state' | 'failures'>
> &
  Partial<Pick<CronJob, 'origin' | 'route' | 'fromOwner'>>;

/**
 * Scheduled jobs (H08), stored in the `cron_job` table. The `/cron` command, the agent's tool and
 * the page change jobs; the scheduler reads and fires them.
 */
export function createCronJobRepository(database: Database) {
  return {
    /** Adds a job; `known` means that the same request has already created it. */
    add: (job: NewCronJob, bounds: CronJobLimits, now: number) =>
      database.write((sql) => insertCronJob(sql, job, bounds, now)),
    get: (id: string): Promise<CronJob | null> =>
      database.read(async (sql) => readCronJobIf(await sql.get(JOB_BY_ID, { id }))),
    /** Finds the job created by this call or command. */
    find: (askedBy: string): Promise<CronJob | null> =>
      database.read(async (sql) => readCronJobIf(await sql.get(JOB_ASKED_BY, { askedBy }))),
    /** Lists the jobs in one conversation, or all jobs, in the order in which they were created. */
    list: (conversationId?: string): Promise<readonly CronJob[]> =>
      database.read(async (sql) => {
        const rows = await (conversationId === undefined
          ? sql.all(ALL_JOBS)
          : sql.all(JOBS_OF_CONVERSATION, { conversationId }));
        return rows.map(readCronJob);
      }),
    /** Lists due jobs, the longest overdue first. */
    due: (now: number, limit: number): Promise<readonly CronJob[]> =>
      database.read(async (sql) => (await sql.all(DUE, { now, limit })).map(readCronJob)),
    /** When the next job is due; null if no job is on. */
    nextAt: (): Promise<number | null> =>
      database.read(async (sql) => (await sql.get(NEXT_AT))?.at ?? null),
    /**
     * Puts a due job's message into its conversation and sets the job's next run, in one
     * transaction. The job then belongs to that conversation. False if another process has fired,
     * paused or removed the job in the meantime. If `nextAt` is null, the job does not run again.
     */
    fire: (
      job: Pick<CronJob, 'id' | 'nextAt'>,
      message: AdmittedMessage,
      nextAt: number | null,
      now: number,
    ) => database.write((sql) => fireJob(sql, job, message, nextAt, now)),
    /**
     * Lists jobs whose last run has ended but has not been settled, with the outcome of the run.
     */
    unsettled: (limit: number) => database.read((sql) => listUnsettledJobs(sql, limit)),
    /**
     * Moves a job to another time without running it; false if another process has fired, paused or
     * removed the job.
     */
    postpone: async ({ id, nextAt: dueAt }: Pick<CronJob, 'id' | 'nextAt'>, nextAt: number) =>
      dueAt !== null && (await database.change('power-cut', POSTPONE, { id, dueAt, nextAt })) > 0,
    /**
     * Records the outcome of the last run once and applies `then` to the job at the same time
     * (backoff, pause). False if the outcome was already recorded or the job has changed since it
     * was read.
     */
    async settle(
      { id, lastAt, state: wasState, nextAt: wasNextAt }: SettledJob,
      outcome: string,
      then: CronJobChange,
    ): Promise<boolean> {
      const was = { id, lastAt, wasState, wasNextAt, outcome };
      return (
        (await database.change('power-cut', SETTLE, { ...was, ...toChangeParameters(then) })) > 0
      );
    },
    /** Changes a job; false if it does not exist. */
    change: async (id: string, change: CronJobChange): Promise<boolean> =>
      (await database.change('power-cut', CHANGE, { id, ...toChangeParameters(change) })) > 0,
    remove: async (id: string): Promise<boolean> =>
      (await database.change('power-cut', REMOVE, { id })) > 0,
  };
}

type SettledJob = Pick<CronJob, 'id' | 'lastAt' | 'state' | 'nextAt'>;

const COLUMNS = `cron_job.id, request_key as "askedBy", cron_job.conversation_id as "conversationId",
  origin, cron_job.route, cron_job.from_owner as "fromOwner", title, task, timetable,
  cron_job.state, next_at as "nextAt", failures, last_at as "lastAt",
  last_outcome as "lastOutcome", created_at as "createdAt"`;

const ALL_JOBS = defineStatement(
  `select ${COLUMNS} from cron_job order by created_at, id`,
).rows<CronJobRow>();

const JOBS_OF_CONVERSATION = defineStatement(`
  select ${COLUMNS} from cron_job where conversation_id = :conversationId
  order by created_at, id`).rows<CronJobRow>();

const JOB_BY_ID = defineStatement(
  `select ${COLUMNS} from cron_job where id = :id`,
).rows<CronJobRow>();

const JOB_ASKED_BY = defineStatement(
  `select ${COLUMNS} from cron_job where request_key = :askedBy`,
).rows<CronJobRow>();

const REMOVE = defineStatement('delete from cron_job where id = :id');

const ADD = defineStatement(`
  insert into cron_job (id, request_key, conversation_id, origin, route, from_owner, title, task,
    timetable, state, next_at, created_at)
  values (:id, :askedBy, :conversationId, :origin, :route, :fromOwner, :title, :task,
    :timetable, 'on', :nextAt, :now)
  on conflict (request_key) do nothing`);

/** Finished jobs do not count towards the limit. */
const COUNT = defineStatement(`
  select count(*) as total, count(*) filter (where conversation_id = :conversationId) as here
  from cron_job where state <> 'over'`).rows<{ readonly total: number; readonly here: number }>();

async function insertCronJob(
  sql: Sql,
  job: NewCronJob,
  { perConversation, total }: CronJobLimits,
  now: number,
): Promise<'added' | 'known' | 'full'> {
  const { id, conversationId } = job;
  // The job may send the first message in this chat.
  ensureConversation(sql, conversationId, now);
  const added = await sql.run(ADD, {
    ...job,
    origin: encodeJson(job.origin),
    route: encodeJson(job.route),
    fromOwner: job.fromOwner ? 1 : 0,
    timetable: encodeJson(job.timetable),
    now,
  });
  if (added === 0) return 'known';
  // The count includes the new job.
  const count = await sql.get(COUNT, { conversationId });
  const most = job.fromOwner ? total : total - Math.floor(total * OWNERS_SHARE);
  const hasRoom = count !== undefined && count.here <= perConversation && count.total <= most;
  if (hasRoom && (job.fromOwner || (await countJobsOfPerson(sql, job)) <= perConversation))
    return 'added';
  sql.send(REMOVE, { id });
  return 'full';
}

const OWNERS_SHARE = 0.1;

const GUESTS = defineStatement(
  "select origin from cron_job where state <> 'over' and from_owner = 0",
).rows<{ readonly origin: string }>();

async function countJobsOfPerson(sql: Sql, { origin }: NewCronJob): Promise<number> {
  const person = toJobOwnerKey(origin);
  const jobs = await sql.all(GUESTS);
  return jobs.filter(
    (job) =>
      toJobOwnerKey(decodeCheckedJson(InboundMessage, job.origin, 'message of a job')) === person,
  ).length;
}

function toJobOwnerKey({ channel, sender }: InboundMessage): string {
  return JSON.stringify([channel, sender.id]);
}

/** A job that is not on does not have a next run. */
const CHANGES = `title = coalesce(:title, title), task = coalesce(:task, task),
  failures = coalesce(:failures, failures), timetable = coalesce(:timetable, timetable),
  origin = coalesce(:origin, origin), route = coalesce(:route, route),
  from_owner = coalesce(:fromOwner, from_owner), state = coalesce(:state, state), next_at = case when :setsNext = 1 then :nextAt else next_at end`;

const CHANGE = defineStatement(`update cron_job set ${CHANGES} where id = :id`);

const SETTLE = defineStatement(`
  update cron_job set ${CHANGES}, last_outcome = :outcome
  where id = :id and last_at = :lastAt and last_outcome is null and state = :wasState
    and next_at is not distinct from :wasNextAt`);

function toChangeParameters(change: CronJobChange) {
  const { timetable, nextAt, state, title, task, failures, origin, route, fromOwner } = change;
  const isOff = state !== undefined && state !== 'on';
  return {
    origin: origin === undefined ? null : encodeJson(origin),
    route: route === undefined ? null : encodeJson(route),
    fromOwner: fromOwner === undefined ? null : Number(fromOwner),
    title: title ?? null,
    task: task ?? null,
    failures: failures ?? null,
    timetable: timetable === undefined ? null : encodeJson(timetable),
    state: state ?? null,
    setsNext: isOff || nextAt !== undefined ? 1 : 0,
    nextAt: isOff ? null : (nextAt ?? null),
  };
}

const DUE = defineStatement(`
  select ${COLUMNS} from cron_job where state = 'on' and next_at <= :now
  order by next_at limit :limit`).rows<CronJobRow>();

const NEXT_AT = defineStatement(`select min(next_at) as at from cron_job where state = 'on'`).rows<{
  readonly at: number | null;
}>();

const FIRE = defineStatement(`
  update cron_job set conversation_id = :conversationId, next_at = :nextAt, state = :state,
    last_at = :now, last_message_id = :messageId, last_outcome = null
  where id = :id and next_at = :dueAt and state = 'on'`);

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
  const fired = await sql.run(FIRE, {
    id: job.id,
    dueAt: job.nextAt,
    conversationId: message.conversationId,
    messageId: message.message.messageId,
    state: nextAt === null ? 'over' : 'on',
    nextAt,
    now,
  });
  if (fired === 0) return false;
  addMessage(sql, message);
  return true;
}

async function listUnsettledJobs(
  sql: Sql,
  limit: number,
): Promise<readonly (CronJob & { readonly outcome: string })[]> {
  const rows = await sql.all(UNSETTLED, { limit });
  return rows.map(({ outcome, ...row }) => ({ ...readCronJob(row), outcome: outcome ?? 'silent' }));
}

const UNSETTLED = defineStatement(`
  select ${COLUMNS}, inbox.outcome from cron_job
  join inbox on inbox.message_id = last_message_id and inbox.conversation_id = cron_job.conversation_id
  where last_message_id is not null and last_outcome is null and inbox.state = 'done'
  order by last_at limit :limit`).rows<CronJobRow & { readonly outcome: string | null }>();

const POSTPONE = defineStatement(`
  update cron_job set next_at = :nextAt where id = :id and next_at = :dueAt and state = 'on'`);

const readCronJobIf = (row: CronJobRow | undefined) =>
  row === undefined ? null : readCronJob(row);

interface CronJobRow extends Omit<CronJob, 'origin' | 'route' | 'timetable' | 'fromOwner'> {
  readonly origin: string;
  readonly route: string;
  readonly timetable: string;
  readonly fromOwner: number;
}

/**
 * Converts a stored job to the type used outside the store; throws StoreError `store-damaged` for
 * an invalid row.
 */
function readCronJob(row: CronJobRow): CronJob {
  const what = `of the job ${row.id}`;
  return {
    ...row,
    origin: decodeCheckedJson(InboundMessage, row.origin, `message ${what}`),
    route: decodeCheckedJson(ReplyRoute, row.route, `reply route ${what}`),
    timetable: decodeCheckedJson(Timetable, row.timetable, `timetable ${what}`),
    fromOwner: row.fromOwner === 1,
  };
}
