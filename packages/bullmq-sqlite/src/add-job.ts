import type { DeduplicationOptions, JobJson } from 'bullmq';
import { createNotSupportedError } from './errors.ts';
import {
  createDelayedPosition,
  createWaitingPosition,
  findJob,
  type JobRow,
  jobExists,
  type LineEnd,
  moveJob,
  type NewJob,
  type QueuePosition,
} from './job-row.ts';
import type { QueueScope } from './queue-scope.ts';
import { deleteJob } from './removal.ts';

/**
 * Adds a job and returns the id of the job that will do the work: the new job, an existing job with
 * the same id, or the job that deduplication keeps instead.
 */
export function addJob(scope: QueueScope, json: JobJson, customId: string | undefined): string {
  refuseFlow(json);
  // The counter advances even if the id is not used, because BullMQ's Redis backend also counts
  // every call.
  const countedId = incrementJobId(scope);
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
  const kept = deduplicateJob(scope, job);
  if (kept !== undefined) return kept;
  storeAndEnqueue(scope, job);
  return id;
}

/** Throws for a job that has a parent. */
export function refuseFlow({ parent, parentKey }: JobJson): void {
  if (parent || parentKey) throw createNotSupportedError('flows (the "parent" option of a job)');
}

/** Increments the queue's job counter and returns it as an id. */
export function incrementJobId(scope: QueueScope): string {
  const row = scope.get<{ last_job_id: number }>(
    'UPDATE queue SET last_job_id = last_job_id + 1 WHERE id = ? RETURNING last_job_id',
  );
  return String(row?.last_job_id ?? 0);
}

/** Stores a job and puts it in line, or among the delayed jobs if it has a delay. */
export function storeAndEnqueue(scope: QueueScope, job: NewJob): void {
  const delay = Math.max(Math.floor(job.opts.delay ?? 0), 0);
  const priority = job.opts.priority ?? 0;
  const end: LineEnd = job.opts.lifo && priority === 0 ? 'front' : 'back';
  const position =
    delay > 0
      ? createDelayedPosition(job.timestamp, delay)
      : createWaitingPosition(scope, priority, end);
  insertJob(scope, job, position, delay, priority);
  scope.emit('added', { jobId: job.id, name: job.name });
  if (delay > 0) scope.emit('delayed', { jobId: job.id, delay: position.rank });
  else scope.emit('waiting', { jobId: job.id });
}

function insertJob(
  scope: QueueScope,
  job: NewJob,
  position: QueuePosition,
  delay: number,
  priority: number,
): void {
  scope.run(
    `INSERT INTO job (queue_id, id, state, lane, rank, name, data, opts, timestamp, delay,
       priority, scheduler_id, dedup_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    job.id,
    position.state,
    position.lane,
    position.rank,
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

/**
 * The job that owns a deduplication id, and when its ownership ends, in Unix ms; null if it lasts
 * as long as the job exists.
 */
interface DeduplicationClaim {
  readonly job_id: string;
  readonly expires_at: number | null;
}

/**
 * Decides what deduplication does with a new job. Returns undefined if the new job should be
 * stored; it then owns the id. Otherwise returns the id of the existing owner, and the new job is
 * dropped or kept as the follow-up.
 */
function deduplicateJob(scope: QueueScope, job: NewJob): string | undefined {
  const options = job.opts.deduplication;
  if (!options) return undefined;
  if (computeExpiry(scope, options) !== null) dropExpiredClaims(scope);
  if (claimIfFree(scope, options, job.id)) return undefined;
  const claim = findClaim(scope, options.id);
  if (!claim) {
    setClaim(scope, options, job.id);
    return undefined;
  }
  const owner = findJob(scope, claim.job_id);
  if (options.replace && owner?.state === 'delayed') {
    replaceDelayedJob(scope, options, claim, owner, job.id);
    return undefined;
  }
  if (claim.expires_at === null && !owner) {
    // The owner no longer exists but did not release the id, so the claim is stale.
    dropFollowUp(scope, options.id);
    setClaim(scope, options, job.id);
    return undefined;
  }
  if (options.keepLastIfActive && owner?.state === 'active') {
    storeFollowUp(scope, options.id, job);
    announceDuplicate(scope, options.id, claim.job_id, job.id);
    return claim.job_id;
  }
  if (!options.replace) dropNewJob(scope, options, claim, owner, job);
  return claim.job_id;
}

/** Finds the current owner of a deduplication id. */
export function findClaim(scope: QueueScope, dedupId: string): DeduplicationClaim | undefined {
  return scope.get<DeduplicationClaim>(
    `SELECT job_id, expires_at FROM dedup
     WHERE queue_id = ? AND id = ? AND (expires_at IS NULL OR expires_at > ?)`,
    dedupId,
    scope.now,
  );
}

/** Makes a job the owner of an id: with `keepLastIfActive` until it ends, otherwise for the ttl. */
function setClaim(scope: QueueScope, options: DeduplicationOptions, jobId: string): void {
  storeClaim(scope, options.id, jobId, computeExpiry(scope, options));
}

/** Makes a job the owner of an unclaimed id; returns false if the id already has a claim. */
function claimIfFree(scope: QueueScope, options: DeduplicationOptions, jobId: string): boolean {
  const claimed = scope.run(
    'INSERT INTO dedup (queue_id, id, job_id, expires_at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
    options.id,
    jobId,
    computeExpiry(scope, options),
  );
  return claimed > 0;
}

/**
 * Deletes up to two expired claims per job added with a ttl, so that claims never accumulate and no
 * single call has to delete many.
 */
function dropExpiredClaims(scope: QueueScope): void {
  scope.run(
    `DELETE FROM dedup WHERE queue_id = ?1 AND id IN (
       SELECT id FROM dedup WHERE queue_id = ?1 AND expires_at <= ?2 ORDER BY expires_at LIMIT 2)`,
    scope.now,
  );
}

function computeExpiry(scope: QueueScope, options: DeduplicationOptions): number | null {
  const ttl = options.keepLastIfActive ? undefined : options.ttl;
  return ttl && ttl > 0 ? scope.now + Math.ceil(ttl) : null;
}

/**
 * Releases a deduplication id if `jobId` owns it or is absent. Returns how many claims were
 * released; an expired claim does not count.
 */
export function removeClaim(scope: QueueScope, dedupId: string, jobId?: string): number {
  const isClaimed = findClaim(scope, dedupId) !== undefined;
  const removed = scope.run(
    'DELETE FROM dedup WHERE queue_id = ? AND id = ? AND job_id = coalesce(?, job_id)',
    dedupId,
    jobId ?? null,
  );
  return isClaimed ? removed : 0;
}

function replaceDelayedJob(
  scope: QueueScope,
  options: DeduplicationOptions,
  claim: DeduplicationClaim,
  owner: JobRow,
  newJobId: string,
): void {
  deleteJob(scope, owner);
  scope.emit('removed', { jobId: owner.id, prev: 'delayed' });
  announceDuplicate(scope, options.id, newJobId, owner.id);
  dropFollowUp(scope, options.id);
  const keepsWindow = !options.keepLastIfActive && !options.extend && (options.ttl ?? 0) > 0;
  if (keepsWindow) storeClaim(scope, options.id, newJobId, claim.expires_at);
  else setClaim(scope, options, newJobId);
}

function dropNewJob(
  scope: QueueScope,
  options: DeduplicationOptions,
  claim: DeduplicationClaim,
  owner: JobRow | undefined,
  job: NewJob,
): void {
  if (options.extend && (options.ttl ?? 0) > 0) setClaim(scope, options, claim.job_id);
  announceDuplicate(scope, options.id, claim.job_id, job.id);
  if (options.reschedule && owner?.state === 'delayed') {
    const delay = job.opts.delay ?? 0;
    const position = createDelayedPosition(job.timestamp, delay);
    moveJob(scope, owner.seq, position, delay);
    scope.emit('delayed', { jobId: owner.id, delay: position.rank });
  }
}

function storeFollowUp(scope: QueueScope, dedupId: string, job: NewJob): void {
  scope.run(
    'INSERT OR REPLACE INTO dedup_next (queue_id, id, job) VALUES (?, ?, ?)',
    dedupId,
    JSON.stringify(job),
  );
  // From now on, the claim must outlive the active job, or another add could slip past the check in
  // `deduplicate`.
  scope.run('UPDATE dedup SET expires_at = NULL WHERE queue_id = ? AND id = ?', dedupId);
}

/** Deletes the follow-up stored under this deduplication id. */
function dropFollowUp(scope: QueueScope, dedupId: string): void {
  scope.run('DELETE FROM dedup_next WHERE queue_id = ? AND id = ?', dedupId);
}

function storeClaim(
  scope: QueueScope,
  dedupId: string,
  jobId: string,
  expiresAt: number | null,
): void {
  scope.run(
    'INSERT OR REPLACE INTO dedup (queue_id, id, job_id, expires_at) VALUES (?, ?, ?, ?)',
    dedupId,
    jobId,
    expiresAt,
  );
}

function announceDuplicate(
  scope: QueueScope,
  dedupId: string,
  jobId: string,
  droppedId: string,
): void {
  scope.emit('deduplicated', {
    jobId,
    deduplicationId: dedupId,
    deduplicatedJobId: droppedId,
  });
}

/**
 * Releases a finished job's deduplication id and enqueues the follow-up that arrived under
 * `keepLastIfActive`. Both happen in the transaction that finishes the job, so there is no gap in
 * which an add could be lost or a second job could start.
 */
export function releaseDeduplication(scope: QueueScope, dedupId: string, jobId: string): void {
  // A claim with a ttl remains and rejects further jobs until it expires.
  scope.run(
    'DELETE FROM dedup WHERE queue_id = ? AND id = ? AND expires_at IS NULL AND job_id = ?',
    dedupId,
    jobId,
  );
  const row = scope.get<{ job: string }>(
    'SELECT job FROM dedup_next WHERE queue_id = ? AND id = ?',
    dedupId,
  );
  if (!row) return;
  dropFollowUp(scope, dedupId);
  enqueueFollowUp(scope, JSON.parse(row.job) as NewJob);
}

function enqueueFollowUp(scope: QueueScope, stored: NewJob): void {
  incrementJobId(scope);
  if (jobExists(scope, stored.id)) {
    scope.emit('duplicated', { jobId: stored.id });
    return;
  }
  const job: NewJob = { ...stored, timestamp: scope.now };
  if (job.opts.deduplication) setClaim(scope, job.opts.deduplication, job.id);
  storeAndEnqueue(scope, job);
}
