import { releaseDeduplication } from './follow-up.ts';
import type { JobRow } from './job-row.ts';
import { heldJob } from './locks.ts';
import type { QueueScope } from './queue-scope.ts';
import { deleteJob } from './remove-job.ts';
import { applyRetention, type Retention } from './retention.ts';

/** How a job ended. `value` is JSON text for a result, plain text for a reason. */
export type Outcome =
  | { readonly state: 'completed'; readonly value: string }
  | { readonly state: 'failed'; readonly value: string; readonly stacktrace: string | undefined };

/** What is to be finished, by whom, and what remains of it. */
export interface Finish {
  readonly jobId: string;
  readonly token: string;
  /** How many attempts the job has in all; 0 and 1 mean one. */
  readonly attempts: number;
  readonly outcome: Outcome;
  readonly retention: Retention;
}

/** Ends an active job: completed, or failed for good. */
export function finishJob(scope: QueueScope, finish: Finish): void {
  const { outcome, retention } = finish;
  const job = heldJob(scope, finish.jobId, finish.token, 'moveToFinished');
  if (job.dedup_id !== null) releaseDeduplication(scope, job.dedup_id, job.id);
  if (retention.count === 0) {
    deleteJob(scope, job);
  } else {
    storeOutcome(scope, job, outcome);
    applyRetention(scope, outcome.state, retention);
  }
  announceOutcome(scope, job, finish);
}

/** Announces that nothing is left to do, when that is so. */
export function emitDrainedWhenEmpty(scope: QueueScope): void {
  if (!scope.keepsEvents) return;
  const left = scope.file.get(
    "SELECT 1 AS found FROM job WHERE queue_id = ? AND state IN ('waiting', 'active') LIMIT 1",
    scope.queueId,
  );
  if (!left) scope.emit('drained');
}

function storeOutcome(scope: QueueScope, job: JobRow, outcome: Outcome): void {
  const failed = outcome.state === 'failed';
  scope.file.run(
    `UPDATE job SET state = ?1, lane = 0, rank = ?2, finished_on = ?2,
       attempts_made = attempts_made + 1, lock_token = NULL, lock_until = 0, suspect = 0,
       return_value = coalesce(?3, return_value), failed_reason = coalesce(?4, failed_reason),
       stacktrace = coalesce(?5, stacktrace),
       deferred_failure = CASE WHEN ?4 IS NULL THEN deferred_failure END
     WHERE seq = ?6`,
    outcome.state,
    scope.now,
    failed ? null : outcome.value,
    failed ? outcome.value : null,
    failed ? (outcome.stacktrace ?? null) : null,
    job.seq,
  );
}

function announceOutcome(scope: QueueScope, job: JobRow, { outcome, attempts }: Finish): void {
  const attemptsMade = job.attempts_made + 1;
  if (outcome.state === 'completed') {
    scope.emit('completed', { jobId: job.id, returnvalue: outcome.value, prev: 'active' });
    return;
  }
  scope.emit('failed', { jobId: job.id, failedReason: outcome.value, prev: 'active' });
  if (attemptsMade >= attempts) scope.emit('retries-exhausted', { jobId: job.id, attemptsMade });
}
