import type { InboundMessage, ReplyRoute, Timetable } from '@parley/contracts';
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

/** Jobs with a timetable (H08). Reading them changes nothing. */
export interface CronJobRepository {
  /** `known`: the same call has made it already. */
  add(job: NewCronJob, bounds: CronBounds, now: number): Promise<'added' | 'known' | 'full'>;
  get(id: string): Promise<CronJob | null>;
  /** The job that a call or command has made. */
  find(askedBy: string): Promise<CronJob | null>;
  /** Of one conversation, or all, in the order in which they were made. */
  list(conversationId?: string): Promise<readonly CronJob[]>;
  /** Those whose time has come, the longest overdue first. */
  due(now: number, limit: number): Promise<readonly CronJob[]>;
  /** When the next one is due; null when none is on. */
  nextAt(): Promise<number | null>;
  /**
   * Puts the message of a due job into its conversation and moves the job on, in one transaction; the
   * job belongs to that conversation from then on. False when it has been moved, paused or removed
   * meanwhile: somebody else has done it. `nextAt` null: that was the last time.
   */
  fire(
    job: Pick<CronJob, 'id' | 'nextAt'>,
    message: AdmittedMessage,
    nextAt: number | null,
    now: number,
  ): Promise<boolean>;
  /** Gives a job another time without a run. False as for `fire`. */
  postpone(job: Pick<CronJob, 'id' | 'nextAt'>, nextAt: number): Promise<boolean>;
  /** Jobs whose last run is over but not settled, with how it ended. */
  unsettled(limit: number): Promise<readonly (CronJob & { readonly outcome: string })[]>;
  /**
   * Notes how the last run ended, once; `then` changes the job with it (backoff, pause). False when it
   * is noted, or the job has been changed since it was read.
   */
  settle(
    job: Pick<CronJob, 'id' | 'lastAt' | 'state' | 'nextAt'>,
    outcome: string,
    then: CronChange,
  ): Promise<boolean>;
  /** False when there is no such job. */
  change(id: string, change: CronChange): Promise<boolean>;
  remove(id: string): Promise<boolean>;
}
