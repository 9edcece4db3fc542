import type { JobJson } from 'bullmq';
import { deduplicate } from './deduplication.ts';
import { notSupported } from './errors.ts';
import { jobExists, type NewJob } from './job-row.ts';
import { delayedStanding, type LineEnd, type Standing, waitingStanding } from './placement.ts';
import type { QueueScope } from './queue-scope.ts';

/**
 * Adds a job and returns the id of the job that will do the work: the new one, the one that
 * already had the id, or the one that deduplication keeps instead.
 */
export function addJob(scope: QueueScope, json: JobJson, customId: string | undefined): string {
  if (json.parent || json.parentKey) throw notSupported('flows (the "parent" option of a job)');
  // The counter moves even when the id is not used: BullMQ's Redis backend counts every call.
  const countedId = nextJobId(scope);
  const id = customId || countedId;
  if (customId && jobExists(scope, id)) {
    scope.emit('duplicated', { jobId: id });
    return id;
  }
  const job: NewJob = {
    id,
    name: json.name,
    data: json.data,
    opts: json.opts,
    timestamp: Math.floor(json.timestamp),
    schedulerId: json.repeatJobKey,
  };
  const kept = deduplicate(scope, job);
  if (kept !== undefined) return kept;
  storeAndEnqueue(scope, job);
  return id;
}

/** Counts up the queue's job counter and returns it as an id. */
export function nextJobId(scope: QueueScope): string {
  const row = scope.file.get<{ last_job_id: number }>(
    'UPDATE queue SET last_job_id = last_job_id + 1 WHERE id = ? RETURNING last_job_id',
    scope.queueId,
  );
  return String(row?.last_job_id ?? 0);
}

/** Stores a job and puts it in line, or into the delayed jobs when it has a delay. */
export function storeAndEnqueue(scope: QueueScope, job: NewJob): void {
  const delay = Math.max(Math.floor(job.opts.delay ?? 0), 0);
  const priority = job.opts.priority ?? 0;
  const end: LineEnd = job.opts.lifo && priority === 0 ? 'front' : 'back';
  const standing =
    delay > 0 ? delayedStanding(job.timestamp, delay) : waitingStanding(scope, priority, end);
  insertJob(scope, job, standing, delay, priority);
  scope.emit('added', { jobId: job.id, name: job.name });
  if (delay > 0) scope.emit('delayed', { jobId: job.id, delay: standing.rank });
  else scope.emit('waiting', { jobId: job.id });
}

function insertJob(
  scope: QueueScope,
  job: NewJob,
  standing: Standing,
  delay: number,
  priority: number,
): void {
  scope.file.run(
    `INSERT INTO job (queue_id, id, state, lane, rank, name, data, opts, timestamp, delay,
       priority, scheduler_id, dedup_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    scope.queueId,
    job.id,
    standing.state,
    standing.lane,
    standing.rank,
    job.name,
    job.data,
    JSON.stringify(job.opts),
    job.timestamp,
    delay,
    priority,
    job.schedulerId ?? null,
    job.opts.deduplication?.id ?? null,
  );
}
