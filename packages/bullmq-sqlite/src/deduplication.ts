import type { DeduplicationOptions } from 'bullmq';
import type { NewJob } from './job-row.ts';
import { findJob, type JobRow } from './job-row.ts';
import { delayedStanding, moveJob } from './placement.ts';
import type { QueueScope } from './queue-scope.ts';
import { deleteJob } from './remove-job.ts';

/** Which job owns a deduplication id, and until when (Unix ms, null for as long as it lives). */
interface Claim {
  readonly job_id: string;
  readonly expires_at: number | null;
}

/**
 * Decides what deduplication does with a new job. Undefined: store the new job, it owns the id now.
 * Otherwise the id of the job that stays, and the new one is dropped or kept for later.
 */
export function deduplicate(scope: QueueScope, job: NewJob): string | undefined {
  const options = job.opts.deduplication;
  if (!options) return undefined;
  if (claimFree(scope, options, job.id)) return undefined;
  const claim = claimOf(scope, options.id);
  if (!claim) {
    setClaim(scope, options, job.id);
    return undefined;
  }
  const owner = findJob(scope, claim.job_id);
  if (options.replace && owner?.state === 'delayed') {
    replaceDelayed(scope, options, claim, owner, job.id);
    return undefined;
  }
  if (claim.expires_at === null && !owner) {
    // The owner vanished without giving the id back, so the claim is stale.
    dropFollowUp(scope, options.id);
    setClaim(scope, options, job.id);
    return undefined;
  }
  if (options.keepLastIfActive && owner?.state === 'active') {
    storeFollowUp(scope, options.id, job);
    announce(scope, options.id, claim.job_id, job.id);
    return claim.job_id;
  }
  if (!options.replace) dropNewJob(scope, options, claim, owner, job);
  return claim.job_id;
}

/** The job that owns a deduplication id at this moment. */
export function claimOf(scope: QueueScope, dedupId: string): Claim | undefined {
  return scope.file.get<Claim>(
    `SELECT job_id, expires_at FROM dedup
     WHERE queue_id = ? AND id = ? AND (expires_at IS NULL OR expires_at > ?)`,
    scope.queueId,
    dedupId,
    scope.now,
  );
}

/** Makes a job the owner; with `keepLastIfActive` for as long as it lives, else for the ttl. */
export function setClaim(scope: QueueScope, options: DeduplicationOptions, jobId: string): void {
  storeClaim(scope, options.id, jobId, expiryOf(scope, options));
}

/** Makes a job the owner of an id that nobody has had; false when somebody has. */
function claimFree(scope: QueueScope, options: DeduplicationOptions, jobId: string): boolean {
  const claimed = scope.file.run(
    'INSERT INTO dedup (queue_id, id, job_id, expires_at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
    scope.queueId,
    options.id,
    jobId,
    expiryOf(scope, options),
  );
  return claimed > 0;
}

function expiryOf(scope: QueueScope, options: DeduplicationOptions): number | null {
  const ttl = options.keepLastIfActive ? undefined : options.ttl;
  return ttl && ttl > 0 ? scope.now + Math.ceil(ttl) : null;
}

/** Gives a deduplication id back, if `jobId` owns it or nobody is named; returns how many. */
export function removeClaim(scope: QueueScope, dedupId: string, jobId?: string): number {
  return scope.file.run(
    'DELETE FROM dedup WHERE queue_id = ? AND id = ? AND job_id = coalesce(?, job_id)',
    scope.queueId,
    dedupId,
    jobId ?? null,
  );
}

function replaceDelayed(
  scope: QueueScope,
  options: DeduplicationOptions,
  claim: Claim,
  owner: JobRow,
  newJobId: string,
): void {
  deleteJob(scope, owner);
  scope.emit('removed', { jobId: owner.id, prev: 'delayed' });
  announce(scope, options.id, newJobId, owner.id);
  dropFollowUp(scope, options.id);
  const keepsWindow = !options.keepLastIfActive && !options.extend && (options.ttl ?? 0) > 0;
  if (keepsWindow) storeClaim(scope, options.id, newJobId, claim.expires_at);
  else setClaim(scope, options, newJobId);
}

function dropNewJob(
  scope: QueueScope,
  options: DeduplicationOptions,
  claim: Claim,
  owner: JobRow | undefined,
  job: NewJob,
): void {
  if (options.extend && (options.ttl ?? 0) > 0) setClaim(scope, options, claim.job_id);
  announce(scope, options.id, claim.job_id, job.id);
  if (options.reschedule && owner?.state === 'delayed') {
    const delay = job.opts.delay ?? 0;
    const standing = delayedStanding(job.timestamp, delay);
    moveJob(scope, owner.seq, standing, delay);
    scope.emit('delayed', { jobId: owner.id, delay: standing.rank });
  }
}

function storeFollowUp(scope: QueueScope, dedupId: string, job: NewJob): void {
  scope.file.run(
    'INSERT OR REPLACE INTO dedup_next (queue_id, id, job) VALUES (?, ?, ?)',
    scope.queueId,
    dedupId,
    JSON.stringify(job),
  );
  // From now on the claim must outlive the active job, or an add could slip past the check above.
  scope.file.run(
    'UPDATE dedup SET expires_at = NULL WHERE queue_id = ? AND id = ?',
    scope.queueId,
    dedupId,
  );
}

/** Forgets the job waiting for its turn under this deduplication id. */
export function dropFollowUp(scope: QueueScope, dedupId: string): void {
  scope.file.run('DELETE FROM dedup_next WHERE queue_id = ? AND id = ?', scope.queueId, dedupId);
}

function storeClaim(
  scope: QueueScope,
  dedupId: string,
  jobId: string,
  expiresAt: number | null,
): void {
  scope.file.run(
    'INSERT OR REPLACE INTO dedup (queue_id, id, job_id, expires_at) VALUES (?, ?, ?, ?)',
    scope.queueId,
    dedupId,
    jobId,
    expiresAt,
  );
}

function announce(scope: QueueScope, dedupId: string, jobId: string, droppedId: string): void {
  scope.emit('deduplicated', {
    jobId,
    deduplicationId: dedupId,
    deduplicatedJobId: droppedId,
  });
}
