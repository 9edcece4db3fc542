import { ErrorCode, type JobsOptions, type RepeatableOptions } from 'bullmq';
import { incrementJobId, storeAndEnqueue } from './add-job.ts';
import { createJobStateError } from './errors.ts';
import { findJob, jobExists, type NewJob } from './job-row.ts';
import type { QueueScope } from './queue-scope.ts';
import { deleteJob, deleteJobAndClaim, formatSchedulerJobId } from './removal.ts';

/**
 * A scheduler's fields as BullMQ stores them: strings under the names used by its Redis backend.
 */
export type SchedulerFields = Record<string, string>;

/** A scheduler and its next run (Unix ms). */
export interface StoredScheduler {
  readonly id: string;
  readonly nextRun: number;
  readonly fields: SchedulerFields;
}

/** A scheduler to create or change; BullMQ computes `nextRun` for cron patterns. */
export interface SchedulerInput {
  readonly id: string;
  readonly nextRun: number;
  /** The data of the scheduler's jobs as JSON text. */
  readonly data: string;
  readonly templateOpts: JobsOptions;
  readonly repeat: SchedulerRepeat;
  readonly jobOpts: RepeatedJobOptions;
}

/** When a scheduler runs; BullMQ passes null for an offset that is not set. */
type SchedulerRepeat = Omit<RepeatableOptions, 'offset'> & { offset?: number | null | undefined };

/** The options of a job created by a scheduler. */
export type RepeatedJobOptions = JobsOptions & {
  repeat?: { every?: number; offset?: number | null };
};

/** The number of slots to try if old jobs from the same scheduler occupy the next slots. */
const SLOTS_TRIED = 32;

/** Finds the scheduler with this id. */
export function findScheduler(
  scope: Pick<QueueScope, 'get'>,
  id: string,
): StoredScheduler | undefined {
  const row = scope.get<{ next_run: number; fields: string }>(
    'SELECT next_run, fields FROM scheduler WHERE queue_id = ? AND id = ?',
    id,
  );
  return row && { id, nextRun: row.next_run, fields: JSON.parse(row.fields) as SchedulerFields };
}

/**
 * Creates or changes a scheduler and enqueues its next job. Returns the id and the delay (ms) of
 * the job.
 */
export function upsertScheduler(scope: QueueScope, input: SchedulerInput): [string, number] {
  const before = findScheduler(scope, input.id);
  const { every } = input.repeat;
  const everyChanged = before !== undefined && Number(before.fields.every) !== every;
  const repeat: SchedulerRepeat = { ...input.repeat };
  let nextRun = input.nextRun;
  if (every) {
    const offset = repeat.offset ?? input.jobOpts.repeat?.offset ?? 0;
    const previous = everyChanged ? undefined : before?.nextRun;
    const slot = computeNextEveryRun({
      previous,
      every,
      now: scope.now,
      offset,
      startDate: repeat.startDate,
    });
    nextRun = slot.nextRun;
    repeat.offset = slot.offset;
  }
  const replaced = before !== undefined && removeNextJob(scope, before);
  if (replaced) {
    // A pattern's slot may belong to the running job that makes this change. The job for the
    // following slot was just removed, so that slot is free.
    const isTaken = !every && jobExists(scope, formatSchedulerJobId(input.id, nextRun));
    if ((every && !everyChanged) || isTaken) nextRun = before.nextRun;
    if (every && !everyChanged) repeat.offset = input.repeat.offset;
  } else {
    repeat.offset ??= input.jobOpts.repeat?.offset ?? 0;
  }
  nextRun = findFreeSlot(scope, input.id, nextRun, every);
  storeScheduler(scope, { ...input, nextRun, repeat }, before);
  incrementJobId(scope);
  return enqueueIteration(scope, input.id, nextRun, String(repeat.name), input.data, input.jobOpts);
}

/**
 * Called when a scheduler's job starts: sets the next run and enqueues its job. Returns that job's
 * id, or null if the scheduler no longer exists or `producerId` is not its current job.
 */
export function advanceScheduler(
  scope: QueueScope,
  id: string,
  cronRun: number,
  jobOpts: RepeatedJobOptions,
  producerId: string | undefined,
): string | null {
  const scheduler = findScheduler(scope, id);
  if (!scheduler || producerId !== formatSchedulerJobId(id, scheduler.nextRun)) return null;
  const { fields } = scheduler;
  const every = Number(fields.every ?? jobOpts.repeat?.every ?? 0);
  const nextRun = every
    ? computeNextEveryRun({
        previous: scheduler.nextRun,
        every,
        now: scope.now,
        offset: Number(fields.offset ?? jobOpts.repeat?.offset ?? 0),
        startDate: fields.startDate,
      }).nextRun
    : cronRun;
  const nextId = formatSchedulerJobId(id, nextRun);
  if (jobExists(scope, nextId)) {
    scope.emit('duplicated', { jobId: nextId });
    return null;
  }
  const count = Number(fields.ic ?? 1) + 1;
  saveScheduler(scope, { id, nextRun, fields: { ...fields, ic: String(count) } });
  incrementJobId(scope);
  enqueueIteration(scope, id, nextRun, fields.name ?? id, fields.data ?? '{}', jobOpts);
  return nextId;
}

/** Removes a scheduler with its delayed job. Returns 0 if the scheduler existed, otherwise 1. */
export function removeScheduler(scope: QueueScope, id: string): 0 | 1 {
  const scheduler = findScheduler(scope, id);
  if (!scheduler) return 1;
  const next = findJob(scope, formatSchedulerJobId(id, scheduler.nextRun));
  if (next?.state === 'delayed') {
    deleteJob(scope, next);
    scope.emit('removed', { jobId: next.id, prev: 'delayed' });
  }
  scope.run('DELETE FROM scheduler WHERE queue_id = ? AND id = ?', id);
  return 0;
}

/**
 * Removes the scheduler's next job. As in Redis, a job in line stays while the queue is paused,
 * unless it has a priority.
 */
function removeNextJob(scope: QueueScope, scheduler: StoredScheduler): boolean {
  const job = findJob(scope, formatSchedulerJobId(scheduler.id, scheduler.nextRun));
  if (!job || (job.state !== 'delayed' && job.state !== 'waiting')) return false;
  const isInLine = job.state === 'waiting' && job.lane === 0;
  if (isInLine && scope.control.meta.paused !== undefined) return false;
  deleteJobAndClaim(scope, job);
  return true;
}

/**
 * Skips slots whose job still exists, finished or active. There is no alternative to a cron slot.
 */
function findFreeSlot(
  scope: QueueScope,
  id: string,
  wanted: number,
  every: number | undefined,
): number {
  if (!jobExists(scope, formatSchedulerJobId(id, wanted))) return wanted;
  const command = 'addJobScheduler';
  if (!every) throw createJobStateError(ErrorCode.SchedulerJobIdCollision, id, command);
  for (let step = 1; step <= SLOTS_TRIED; step += 1) {
    const run = wanted + step * every;
    if (!jobExists(scope, formatSchedulerJobId(id, run))) return run;
  }
  throw createJobStateError(ErrorCode.SchedulerJobSlotsBusy, id, command);
}

function storeScheduler(
  scope: QueueScope,
  { id, nextRun, data, templateOpts, repeat }: SchedulerInput,
  before: StoredScheduler | undefined,
): void {
  const { name, tz, limit, pattern, startDate, endDate, every } = repeat;
  const offset = repeat.offset ?? before?.fields.offset;
  const opts = JSON.stringify(templateOpts);
  const fields: SchedulerFields = { name: String(name), ic: before?.fields.ic ?? '1' };
  const optional = { tz, limit, pattern, startDate, endDate, every, offset };
  for (const [field, value] of Object.entries(optional)) {
    if (value !== undefined && value !== null) fields[field] = String(value);
  }
  if (opts !== '{}') fields.opts = opts;
  if (data && data !== '{}') fields.data = data;
  saveScheduler(scope, { id, nextRun, fields });
}

function saveScheduler(scope: QueueScope, { id, nextRun, fields }: StoredScheduler): void {
  scope.run(
    'INSERT OR REPLACE INTO scheduler (queue_id, id, next_run, fields) VALUES (?, ?, ?, ?)',
    id,
    nextRun,
    JSON.stringify(fields),
  );
}

function enqueueIteration(
  scope: QueueScope,
  id: string,
  nextRun: number,
  name: string,
  data: string,
  opts: RepeatedJobOptions,
): [string, number] {
  const jobId = formatSchedulerJobId(id, nextRun);
  const delay = Math.max(nextRun - scope.now, 0);
  const job: NewJob = {
    id: jobId,
    name,
    data,
    opts: { ...opts, ...(opts.repeat && { repeat: removeNull(opts.repeat) }), delay, jobId },
    timestamp: scope.now,
    schedulerId: id,
  };
  storeAndEnqueue(scope, job);
  return [jobId, delay];
}

/**
 * Removes a null offset: BullMQ passes null for an offset that is not set, but does not expect null
 * in return.
 */
function removeNull<Repeat extends { offset?: number | null }>(repeat: Repeat): Repeat {
  if (repeat.offset !== null) return repeat;
  const { offset: _offset, ...rest } = repeat;
  return rest as Repeat;
}

/** The inputs for the next run of an `every` scheduler; all values in ms, times as Unix ms. */
export interface EveryRunInputs {
  /** The previously planned run; undefined at the start or when `every` has changed. */
  readonly previous: number | undefined;
  readonly every: number;
  readonly now: number;
  /** The offset of the slots from multiples of `every`; 0 if not yet known. */
  readonly offset: number;
  readonly startDate: number | string | Date | undefined;
}

/**
 * Computes the next run of an `every` scheduler and the offset that keeps its slots in place. The
 * first run is immediate; runs missed without a worker are skipped.
 */
export function computeNextEveryRun(facts: EveryRunInputs): { nextRun: number; offset: number } {
  const nextRun = Math.floor(
    facts.previous === undefined
      ? computeFirstRun(facts)
      : computeFollowingRun(facts, facts.previous),
  );
  const offset = facts.offset || nextRun - Math.floor(nextRun / facts.every) * facts.every;
  return { nextRun, offset: Math.floor(offset) };
}

function computeFirstRun({ every, now, offset, startDate }: EveryRunInputs): number {
  if (startDate) return Math.max(toMs(startDate), now);
  if (offset > 0) return findSlotAfter(now, every, offset);
  return now;
}

function computeFollowingRun({ every, now, offset }: EveryRunInputs, previous: number): number {
  const next = previous + every;
  return next < now ? findSlotAfter(now, every, offset) : next;
}

function findSlotAfter(now: number, every: number, offset: number): number {
  const slot = Math.floor(now / every) * every + offset;
  return slot <= now ? slot + every : slot;
}

function toMs(date: number | string | Date): number {
  return date instanceof Date ? date.getTime() : Number(date);
}
