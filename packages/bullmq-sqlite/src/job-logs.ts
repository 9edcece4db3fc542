import { ErrorCode } from 'bullmq';
import { jobStateError } from './errors.ts';
import { sliceOf } from './getters.ts';
import { jobExists } from './job-row.ts';
import type { QueueScope } from './queue-scope.ts';

/** Appends a line to a job's log, keeps the last `keep` lines if given, and returns their number. */
export function addLog(
  scope: QueueScope,
  jobId: string,
  line: string,
  keep: number | undefined,
): number {
  if (!jobExists(scope, jobId)) throw jobStateError(ErrorCode.JobNotExist, jobId, 'addLog');
  scope.file.run(
    `INSERT INTO job_log (queue_id, job_id, line_no, line)
     SELECT ?1, ?2, coalesce(max(line_no), 0) + 1, ?3 FROM job_log
     WHERE queue_id = ?1 AND job_id = ?2`,
    scope.queueId,
    jobId,
    line,
  );
  if (keep) clearLogs(scope, jobId, keep);
  return countLogs(scope, jobId);
}

/** Removes a job's log, but for the last `keep` lines. */
export function clearLogs(scope: QueueScope, jobId: string, keep: number): void {
  scope.file.run(
    `DELETE FROM job_log WHERE queue_id = ?1 AND job_id = ?2 AND line_no <= (
       SELECT line_no FROM job_log WHERE queue_id = ?1 AND job_id = ?2
       ORDER BY line_no DESC LIMIT 1 OFFSET ?3)`,
    scope.queueId,
    jobId,
    keep,
  );
}

/** A page of a job's log by inclusive indexes, and how many lines there are in all. */
export function readLogs(
  scope: QueueScope,
  jobId: string,
  start: number,
  end: number,
  asc: boolean,
): { logs: string[]; count: number } {
  const total = countLogs(scope, jobId);
  const [offset, limit] = sliceOf(start, end, () => total);
  const rows = scope.file.all<{ line: string }>(
    `SELECT line FROM job_log WHERE queue_id = ? AND job_id = ?
     ORDER BY line_no ${asc ? 'ASC' : 'DESC'} LIMIT ? OFFSET ?`,
    scope.queueId,
    jobId,
    limit,
    offset,
  );
  return { logs: rows.map((row) => row.line), count: total };
}

function countLogs(scope: QueueScope, jobId: string): number {
  const row = scope.file.get<{ n: number }>(
    'SELECT count(*) AS n FROM job_log WHERE queue_id = ? AND job_id = ?',
    scope.queueId,
    jobId,
  );
  return row?.n ?? 0;
}
