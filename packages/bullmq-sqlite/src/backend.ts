import type {
  IQueueBackend,
  JobJson,
  KeepJobs,
  MinimalJob,
  MoveToDelayedOpts,
  ParentKeyOpts,
  RetryJobOpts,
} from 'bullmq';
import { addJob, refuseFlow } from './add-job.ts';
import { BackendAdministration } from './backend-administration.ts';
import {
  claimNextJob,
  createEmptyClaim,
  extendLock,
  type NextJob,
  recoverStalledJobs,
} from './claim-job.ts';
import { createNotSupportedError } from './errors.ts';
import {
  collectMetric,
  delayActiveJob,
  emitDrainedWhenEmpty,
  type FinishRequest,
  finishJob,
  type JobOutcome,
  retryActiveJob,
  returnActiveJob,
} from './finish-job.ts';
import { readRetention } from './removal.ts';

/** The number of jobs added in one `addBulk` transaction, which takes a few ms. */
const ADDED_AT_ONCE = 100;

/** A job to add, as BullMQ passes it. */
interface AddJobEntry {
  job: JobJson;
  jobId: string;
  parentKeyOpts?: ParentKeyOpts;
}

/**
 * BullMQ's queue backend on a SQLite file: the operations for producers and workers. Each call is
 * one transaction.
 */
export class SqliteQueueBackend extends BackendAdministration implements IQueueBackend {
  forQueue(): never {
    throw createNotSupportedError('flows (FlowProducer)');
  }

  addJob(job: JobJson, jobId: string): Promise<string> {
    return this.write((scope) => addJob(scope, job, jobId));
  }

  /**
   * Adds the jobs in several transactions, between which the event loop runs. Rejects before
   * storing any job if one of them belongs to a flow.
   */
  async addJobs(entries: AddJobEntry[]): Promise<string[]> {
    for (const { job } of entries) refuseFlow(job);
    const ids: string[] = [];
    for (let start = 0; start < entries.length; start += ADDED_AT_ONCE) {
      const slice = entries.slice(start, start + ADDED_AT_ONCE);
      const added = await this.write((scope) =>
        slice.map(({ job, jobId }) => addJob(scope, job, jobId)),
      );
      ids.push(...added);
    }
    return ids;
  }

  async addFlow(): Promise<never> {
    throw createNotSupportedError('flows (FlowProducer)');
  }

  moveToActive(token: string, name?: string): Promise<NextJob> {
    return this.orPause(async () => {
      if (!this.expectsJob) {
        const { now, ...left } = await this.look();
        // A worker fetches again after each job it takes. Usually there is no job left, so no write
        // is needed.
        if (!left.waits && left.dueAt > now) return createEmptyClaim(left.dueAt);
      }
      this.expectsJob = false;
      return this.write((scope) => claimNextJob(scope, token, name, this.settings));
    });
  }

  async moveToCompleted(
    job: MinimalJob,
    returnValue: unknown,
    keep: boolean | number | KeepJobs,
    token: string,
    fetchNext: boolean,
  ): Promise<{ result: NextJob | undefined; finishedOn: number }> {
    const outcome: JobOutcome = {
      state: 'completed',
      value: JSON.stringify(returnValue) ?? 'null',
    };
    return this.#finish(
      job,
      outcome,
      readRetention(keep, this.settings.removeOnComplete),
      token,
      fetchNext,
    );
  }

  async moveToFailed(
    job: MinimalJob,
    failedReason: string,
    keep: boolean | number | KeepJobs,
    token: string,
    fetchNext: boolean,
    fields?: { stacktrace?: string },
  ): Promise<{ result: NextJob | undefined; finishedOn: number }> {
    const value = failedReason ?? 'null';
    const outcome: JobOutcome = { state: 'failed', value, stacktrace: fields?.stacktrace };
    return this.#finish(
      job,
      outcome,
      readRetention(keep, this.settings.removeOnFail),
      token,
      fetchNext,
    );
  }

  #finish(
    job: MinimalJob,
    outcome: JobOutcome,
    retention: FinishRequest['retention'],
    token: string,
    fetchNext: boolean,
  ): Promise<{ result: NextJob | undefined; finishedOn: number }> {
    const { metrics, name } = this.settings;
    return this.write((scope) => {
      const finish = { jobId: job.id ?? '', token, attempts: job.opts.attempts ?? 0 };
      finishJob(scope, { ...finish, outcome, retention });
      if (metrics?.maxDataPoints) collectMetric(scope, outcome.state, metrics.maxDataPoints);
      const next =
        fetchNext && !this.closing ? claimNextJob(scope, token, name, this.settings) : undefined;
      if (!next?.[0]) emitDrainedWhenEmpty(scope);
      return { result: next, finishedOn: scope.now };
    });
  }

  moveToDelayed(
    jobId: string,
    timestamp: number,
    delay: number,
    token = '0',
    opts: MoveToDelayedOpts = {},
  ): Promise<NextJob | []> {
    return this.write((scope) => {
      const due = { from: timestamp, delay, countsAsAttempt: !opts.skipAttempt };
      delayActiveJob(scope, jobId, token, due, opts.fieldsToUpdate ?? {});
      if (!opts.fetchNext || this.closing) return [];
      const next = claimNextJob(scope, token, this.settings.name, this.settings);
      return next[0] ? next : [];
    });
  }

  async moveToWaitingChildren(): Promise<never> {
    throw createNotSupportedError('flows (waiting for child jobs)');
  }

  moveJobFromActiveToWait(jobId: string, token = '0'): Promise<number> {
    return this.write((scope) => returnActiveJob(scope, jobId, token));
  }

  retryJob(jobId: string, lifo: boolean, token = '0', opts: RetryJobOpts = {}): Promise<void> {
    return this.write((scope) =>
      retryActiveJob(scope, jobId, token, Boolean(lifo), opts.fieldsToUpdate ?? {}),
    );
  }

  moveStalledJobsToWait(): Promise<string[]> {
    return this.write((scope) => recoverStalledJobs(scope, this.settings));
  }

  extendLock(jobId: string, token: string, duration: number): Promise<number> {
    return this.write((scope) => (extendLock(scope, jobId, token, duration) ? 1 : 0));
  }

  extendLocks(jobIds: string[], tokens: string[], duration: number): Promise<string[]> {
    return this.write((scope) =>
      jobIds.filter((jobId, at) => !extendLock(scope, jobId, tokens[at] ?? '', duration)),
    );
  }
}
