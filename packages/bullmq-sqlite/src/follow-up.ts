import { nextJobId, storeAndEnqueue } from './add-job.ts';
import { dropFollowUp, setClaim } from './deduplication.ts';
import type { NewJob } from './job-row.ts';
import { jobExists } from './job-row.ts';
import type { QueueScope } from './queue-scope.ts';

/**
 * Gives a finished job's deduplication id back and enqueues the job that arrived meanwhile under
 * `keepLastIfActive`. Both happen in the transaction that finishes the job, so there is no gap in
 * which an add could be lost or a second job could start.
 */
export function releaseDeduplication(scope: QueueScope, dedupId: string, jobId: string): void {
  // A claim with a ttl stays: it keeps out further jobs until its time is over.
  scope.file.run(
    'DELETE FROM dedup WHERE queue_id = ? AND id = ? AND expires_at IS NULL AND job_id = ?',
    scope.queueId,
    dedupId,
    jobId,
  );
  const row = scope.file.get<{ job: string }>(
    'SELECT job FROM dedup_next WHERE queue_id = ? AND id = ?',
    scope.queueId,
    dedupId,
  );
  if (!row) return;
  dropFollowUp(scope, dedupId);
  enqueueFollowUp(scope, JSON.parse(row.job) as NewJob);
}

function enqueueFollowUp(scope: QueueScope, stored: NewJob): void {
  nextJobId(scope);
  if (jobExists(scope, stored.id)) {
    scope.emit('duplicated', { jobId: stored.id });
    return;
  }
  const job: NewJob = { ...stored, timestamp: scope.now };
  if (job.opts.deduplication) setClaim(scope, job.opts.deduplication, job.id);
  storeAndEnqueue(scope, job);
}
