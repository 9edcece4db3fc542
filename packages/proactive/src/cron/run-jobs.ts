import type { CurrentSender } from '@parley/channels';
import { getConversationAgent, reasonOf, type Timetable } from '@parley/core';
import type { AdmittedMessage, CronJob, CronJobChange } from '@parley/store';
import { WRONG_CLOCK_MS } from '../zone-clock.ts';
import { shiftStartBefore } from './calendar.ts';
import {
  type CronServices,
  type DueRun,
  findWaitReason,
  formatDueMessage,
  formatGaveUpNotice,
  getZone,
} from './job-view.ts';
import { findNextTime, isEveryHour } from './timetable.ts';

const MINUTE_MS = 60_000;
/** The interval between checks of a waiting job, in ms. */
const WAIT_MS = 15 * MINUTE_MS;
/**
 * A run that has not completed after this time (ms) counts as lost and does not block the next one.
 */
const MAX_RUN_MS = 6 * 60 * MINUTE_MS;

/**
 * Starts a run of each due job. A job that cannot start is postponed and does not block other jobs.
 */
export async function fireDueJobs(deps: CronServices, due: readonly CronJob[]): Promise<void> {
  const { store, clock, log } = deps;
  for (const job of due) {
    try {
      await fireDueJob(deps, job);
    } catch (error) {
      log.error({ job: job.id, reason: reasonOf(error) }, 'a job could not start; it is postponed');
      await store.cronJobs.postpone(job, clock() + MINUTE_MS);
    }
  }
}

async function fireDueJob(deps: CronServices, job: CronJob): Promise<void> {
  const { store, clock, log } = deps;
  const now = clock();
  const agent = getConversationAgent(job.conversationId);
  const sender = await deps.senderNow(job.origin, agent);
  const reason = findWaitReason(job, sender);
  if (sender === null || reason !== null) {
    log.info({ job: job.id, reason }, 'a job waits');
    await store.cronJobs.postpone(job, now + WAIT_MS);
    return;
  }
  // Missed runs are merged into one run, after which a one-off job is done.
  const nextAt = job.timetable.kind === 'once' ? null : findNextTime(job.timetable, now);
  if (isRunInProgress(job, now) && nextAt !== null) {
    log.info({ job: job.id }, 'a job was skipped once because its last run has not finished');
    await store.cronJobs.postpone(job, nextAt);
    return;
  }
  const timeZone = getZone(job.timetable) ?? deps.timeZoneOf(agent);
  const due = { dueAt: getDueTime(job, now), now, timeZone };
  const message = createCronMessage(job, sender, due);
  const isMine = await store.cronJobs.fire(job, message, nextAt, now);
  log.info({ job: job.id, conversation: message.conversationId, isMine }, 'a job starts');
  if (isMine) await deps.wake(message.conversationId);
}

function isRunInProgress({ lastAt, lastOutcome }: CronJob, now: number): boolean {
  return lastAt !== null && lastOutcome === null && now - lastAt < MAX_RUN_MS;
}

/**
 * The time for which the run was scheduled. A one-off job keeps its original time even if it was
 * postponed several times.
 */
function getDueTime({ timetable, nextAt }: CronJob, now: number): number {
  return timetable.kind === 'once' ? Math.min(timetable.at, now) : (nextAt ?? now);
}

type FinishedRun = CronJob & { readonly outcome: string };

export async function settleRuns(
  { store, notify, clock, log }: CronServices,
  ended: readonly FinishedRun[],
): Promise<void> {
  for (const { outcome, ...job } of ended) {
    const { change, gaveUp } = decideRunConsequence(job, outcome, clock());
    if (gaveUp) {
      const failures = change.failures ?? job.failures;
      log.warn({ job: job.id, failures }, 'a job has failed too often');
      // The notice is sent before the failure is recorded. After a crash between the two, the
      // notice is sent again and deduplicated by its key.
      await notify(job, `cron:${job.id}:${job.lastAt}`, formatGaveUpNotice({ ...job, failures }));
    }
    await store.cronJobs.settle(job, outcome, change);
  }
}

/** The minimum delay before a retry, in minutes, by the number of consecutive failures. */
const DELAYS_MIN = [1, 5, 15, 60];
/** After this many consecutive failures a repeating job is paused and a one-off job ends. */
const MAX_FAILURES = DELAYS_MIN.length + 1;

/** How a completed run changes its job. `gaveUp` means that the job's chat is notified. */
interface RunConsequence {
  readonly change: CronJobChange;
  readonly gaveUp: boolean;
}

/**
 * Decides how a job continues after a run that was completed at `now` (ms). Only failures change
 * the timetable: the delay before the next run grows, but a repeating job still runs only at times
 * in its timetable.
 */
function decideRunConsequence(
  job: Pick<CronJob, 'timetable' | 'state' | 'failures'>,
  outcome: string,
  now: number,
): RunConsequence {
  if (outcome !== 'failed') return { change: { failures: 0 }, gaveUp: false };
  const failures = job.failures + 1;
  const isOnce = job.timetable.kind === 'once';
  // A person paused the job in the meantime, so it stays paused.
  if (job.state === 'paused') return { change: { failures }, gaveUp: false };
  if (failures >= MAX_FAILURES) {
    return { change: { failures, state: isOnce ? 'over' : 'paused' }, gaveUp: true };
  }
  const earliest = now + computeFailureDelay(failures);
  if (isOnce) return { change: { failures, state: 'on', nextAt: earliest }, gaveUp: false };
  const nextAt = job.state === 'on' ? findNextTime(job.timetable, earliest - 1) : null;
  return { change: { failures, ...(nextAt !== null && { nextAt }) }, gaveUp: false };
}

/** Returns the delay after a number of consecutive failures, in ms. */
export function computeFailureDelay(failures: number): number {
  const last = DELAYS_MIN.at(-1) ?? 0;
  return (DELAYS_MIN[Math.max(0, failures - 1)] ?? last) * MINUTE_MS;
}

const DAY_MS = 24 * 60 * 60_000;

/**
 * Corrects the times of jobs whose last run is now in the future, because a wrong clock has been
 * set back. Otherwise these jobs would not run until then.
 */
export async function correctJobTimes(
  { store, clock, log }: CronServices,
  jobs: readonly CronJob[],
): Promise<void> {
  const now = clock();
  for (const job of jobs) {
    const corrected = computeCorrectedTime(job, now);
    if (corrected === null) continue;
    const { nextAt, timetable } = corrected;
    log.warn({ job: job.id, nextAt }, "the clock was set back; a job's next run is corrected");
    if (timetable !== job.timetable) await store.cronJobs.change(job.id, { timetable });
    await store.cronJobs.postpone(job, nextAt);
  }
}

/**
 * Returns the new time (ms) of a job whose time was computed with a wrong clock; returns null if
 * the time is kept. A job scheduled for a certain hour does not run again if that hour or day
 * occurs twice.
 */
function computeCorrectedTime(
  { state, timetable, nextAt, lastAt, createdAt }: CronJob,
  now: number,
): { readonly nextAt: number; readonly timetable: Timetable } | null {
  const known = Math.max(lastAt ?? 0, createdAt);
  if (state !== 'on' || nextAt === null || known <= now + WRONG_CLOCK_MS) return null;
  switch (timetable.kind) {
    case 'once':
      return null;
    case 'every': {
      const soonest = now + timetable.ms;
      return soonest < nextAt
        ? { nextAt: soonest, timetable: { ...timetable, from: soonest } }
        : null;
    }
    case 'calendar':
    case 'cron': {
      if (!isEveryHour(timetable) && known - now <= DAY_MS) return null;
      const started = timetable.kind === 'calendar' ? shiftStartBefore(timetable, now) : timetable;
      const soonest = findNextTime(started, now);
      return soonest !== null && soonest < nextAt ? { nextAt: soonest, timetable: started } : null;
    }
  }
}

/**
 * Creates the message that starts a run: in the chat that requested the job and from the person who
 * requested it, so that their details and current permissions apply to the turn (W02). The message
 * id is derived from the job and its time.
 */
function createCronMessage(job: CronJob, sender: CurrentSender, due: DueRun): AdmittedMessage {
  const { origin, route } = job;
  const { conversationId, isOwner } = sender;
  return {
    conversationId,
    route,
    receivedAt: due.now,
    fromOwner: isOwner && job.fromOwner && origin.chat.type === 'direct',
    reason: `job ${job.id} came due`,
    message: {
      ...origin,
      messageId: createJobMessageId(job),
      text: formatDueMessage(job, due),
      mentions: [],
      addressed: true,
      sentAt: due.now,
      variables: {},
      trigger: 'cron',
    },
  };
}

/** The previous run is included, because a clock that is set back may reach the same time twice. */
function createJobMessageId({ id, nextAt, lastAt }: CronJob): string {
  return ['cron', id, nextAt ?? 0, lastAt ?? 0].join(':');
}
