import type { SenderNow } from '@parley/channels';
import { reasonOf } from '@parley/contracts';
import type { AdmittedMessage, CronChange, CronJob } from '@parley/store';
import { WRONG_CLOCK_MS } from '../zone-clock.ts';
import { type CronDeps, type Due, dueWords, gaveUpWords, mayRun } from './job-view.ts';
import { nextTime, readCronExpression } from './timetable.ts';

/** What beginning the runs of due jobs needs. */
export interface FireDeps extends CronDeps {
  /** Wakes the lane of a conversation. */
  readonly wake: (conversationId: string) => Promise<void>;
}

const MINUTE_MS = 60_000;
/** So often it is looked whether a job that waits may run again. */
const WAIT_MS = 15 * MINUTE_MS;
/** A run that is not over after this long has lost its end; it holds up the next one no more. */
const LONGEST_RUN_MS = 6 * 60 * MINUTE_MS;

/** Begins a run of each of these jobs, which are due. One that cannot be begun is put off and stops no other. */
export async function fireDue(deps: FireDeps, due: readonly CronJob[]): Promise<void> {
  const { store, clock, log } = deps;
  for (const job of due) {
    try {
      await fireOne(deps, job);
    } catch (error) {
      log.error(
        { job: job.id, reason: reasonOf(error) },
        'a job could not be begun; it is put off',
      );
      await store.cronJobs.postpone(job, clock() + MINUTE_MS);
    }
  }
}

async function fireOne(deps: FireDeps, job: CronJob): Promise<void> {
  const { store, clock, log, timeZone } = deps;
  const now = clock();
  const may = await mayRun(deps, job);
  if (may.kind === 'waits') {
    log.info({ job: job.id, reason: may.reason }, 'a job waits');
    await store.cronJobs.postpone(job, now + WAIT_MS);
    return;
  }
  // What was missed meanwhile is one run, and a job for once is over with it.
  const nextAt = job.timetable.kind === 'once' ? null : nextTime(job.timetable, now);
  if (isUnderWay(job, now) && nextAt !== null) {
    log.info({ job: job.id }, 'a job is left out once: its last run is not over yet');
    await store.cronJobs.postpone(job, nextAt);
    return;
  }
  const due = { dueAt: dueTimeOf(job, now), now, timeZone };
  const message = cronMessage(job, may.sender, due);
  const isMine = await store.cronJobs.fire(job, message, nextAt, now);
  log.info({ job: job.id, conversation: message.conversationId, isMine }, 'a job begins');
  if (isMine) await deps.wake(message.conversationId);
}

function isUnderWay({ lastAt, lastOutcome }: CronJob, now: number): boolean {
  return lastAt !== null && lastOutcome === null && now - lastAt < LONGEST_RUN_MS;
}

/** When people expected it; a job for once is expected at its time however often it was put off. */
function dueTimeOf({ timetable, nextAt }: CronJob, now: number): number {
  return timetable.kind === 'once' ? Math.min(timetable.at, now) : (nextAt ?? now);
}

/** What noting how runs ended needs. */
export interface SettleDeps extends CronDeps {
  /** Tells the chat of a job something, marked and once for each key (G08). */
  readonly tell: (job: CronJob, key: string, words: string) => Promise<void>;
}

/** A job whose last run is over, and how that ended. */
type EndedRun = CronJob & { readonly outcome: string };

/** Notes how the runs ended that are over, and what follows from that. */
export async function settleRuns(
  { store, tell, clock, log }: SettleDeps,
  ended: readonly EndedRun[],
): Promise<void> {
  for (const { outcome, ...job } of ended) {
    const { change, gaveUp } = afterRun(job, outcome, clock());
    if (gaveUp) {
      const failures = change.failures ?? job.failures;
      log.warn({ job: job.id, failures }, 'a job has failed too often');
      // Before it is noted: a crash between the two tells the same again, which is told once.
      await tell(job, `cron:${job.id}:${job.lastAt}`, gaveUpWords({ ...job, failures }));
    }
    await store.cronJobs.settle(job, outcome, change);
  }
}

/** How long after a failure the next try comes at the earliest, the first failure first. */
const DELAYS_MIN = [1, 5, 15, 60];
/** After so many failures in a row a job is paused, or given up if it was for once. */
const MOST_FAILURES = DELAYS_MIN.length + 1;

/** What becomes of a job whose run is over; `gaveUp`: its chat is told. */
interface AfterRun {
  readonly change: CronChange;
  readonly gaveUp: boolean;
}

/**
 * Decides what follows a run that ended at `now` (ms). Only failures change the timetable: the next run
 * waits longer each time, and never comes between two times of the timetable.
 */
function afterRun(
  job: Pick<CronJob, 'timetable' | 'state' | 'failures'>,
  outcome: string,
  now: number,
): AfterRun {
  if (outcome !== 'failed') return { change: { failures: 0 }, gaveUp: false };
  const failures = job.failures + 1;
  const isOnce = job.timetable.kind === 'once';
  // A person has paused it meanwhile: it stays as they left it.
  if (job.state === 'paused') return { change: { failures }, gaveUp: false };
  if (failures >= MOST_FAILURES) {
    return { change: { failures, state: isOnce ? 'over' : 'paused' }, gaveUp: true };
  }
  const earliest = now + delayAfter(failures);
  if (isOnce) return { change: { failures, state: 'on', nextAt: earliest }, gaveUp: false };
  const nextAt = job.state === 'on' ? nextTime(job.timetable, earliest - 1) : null;
  return { change: { failures, ...(nextAt !== null && { nextAt }) }, gaveUp: false };
}

/** The pause after so many failures in a row, in ms. */
export function delayAfter(failures: number): number {
  const last = DELAYS_MIN.at(-1) ?? 0;
  return (DELAYS_MIN[Math.max(0, failures - 1)] ?? last) * MINUTE_MS;
}

const DAY_MS = 24 * 60 * 60_000;

/**
 * Gives jobs another time that were last begun in what is the future now: by a clock that was wrong and
 * has been put back. Without that they would stay away until that time comes again.
 */
export async function mendTimes(
  { store, clock, log }: CronDeps,
  jobs: readonly CronJob[],
): Promise<void> {
  const now = clock();
  for (const job of jobs) {
    const nextAt = mendedTime(job, now);
    if (nextAt === null) continue;
    log.warn({ job: job.id, nextAt }, 'the clock was put back; a job has another time');
    if (job.timetable.kind === 'every') {
      await store.cronJobs.change(job.id, { timetable: { ...job.timetable, from: nextAt } });
    }
    await store.cronJobs.postpone(job, nextAt);
  }
}

/**
 * The time (ms) that a job has at a moment if the one that it has was made by a wrong clock; null: it
 * stays. What ran at a certain hour does not run at that hour again when an hour or a day comes twice.
 */
function mendedTime(
  { state, timetable, nextAt, lastAt, createdAt }: CronJob,
  now: number,
): number | null {
  const known = Math.max(lastAt ?? 0, createdAt);
  if (state !== 'on' || nextAt === null || known <= now + WRONG_CLOCK_MS) return null;
  switch (timetable.kind) {
    case 'once':
      return null;
    case 'every': {
      const soonest = now + timetable.ms;
      return soonest < nextAt ? soonest : null;
    }
    case 'cron': {
      const read = readCronExpression(timetable.expression);
      const isOfEveryHour = read.kind === 'cron' && read.hours === 24;
      if (!isOfEveryHour && known - now <= DAY_MS) return null;
      const soonest = nextTime(timetable, now);
      return soonest !== null && soonest < nextAt ? soonest : null;
    }
  }
}

/**
 * The message that a run begins with: in the chat that asked, as if from the person who asked, so that
 * the turn has their facts and nobody’s rights but theirs as they are now (W02). Its id is made of the
 * job and its time.
 */
function cronMessage(job: CronJob, sender: SenderNow, due: Due): AdmittedMessage {
  const { origin, route } = job;
  const { conversationId, isOwner } = sender;
  return {
    conversationId,
    route,
    receivedAt: due.now,
    fromOwner: isOwner && job.fromOwner && origin.chat.type === 'direct',
    reason: `the time of the job ${job.id} had come`,
    message: {
      ...origin,
      messageId: messageIdOf(job),
      text: dueWords(job, due),
      mentions: [],
      addressed: true,
      sentAt: due.now,
      variables: {},
      occasion: 'cron',
    },
  };
}

/** With the run before it: a clock that is put back may bring the same time twice. */
function messageIdOf({ id, nextAt, lastAt }: CronJob): string {
  return ['cron', id, nextAt ?? 0, lastAt ?? 0].join(':');
}
