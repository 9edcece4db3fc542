import type { CurrentSender } from '@parley/channels';
import {
  type CronFields,
  getConversationAgent,
  type InboundMessage,
  pluralize,
  quoteLines,
  type Runtime,
  type Timetable,
} from '@parley/core';
import type { CronJob, CronJobLimits, Store } from '@parley/store';
import { formatWallDayAndMinute, formatWallMinute } from '../zone-clock.ts';
import type { CalendarTimetable } from './calendar.ts';
import { listNextTimes } from './timetable.ts';

type JobViewFields =
  | 'id'
  | 'title'
  | 'task'
  | 'state'
  | 'nextAt'
  | 'lastAt'
  | 'lastOutcome'
  | 'failures';

/** A job as shown in lists. */
export interface JobView extends Pick<CronJob, JobViewFields> {
  /** The prefix of the job's conversation id; undefined for the default agent (F14). */
  readonly agent: string | undefined;
  readonly when: string;
  /** Why the job does not run although it is enabled; null if it runs. */
  readonly waits: string | null;
  /**
   * The chat that receives the job's answers, such as `telegram:-100`, and the title of the chat.
   */
  readonly chat: string;
  readonly chatTitle: string;
  /** The next few runs; empty if the job is not enabled. */
  readonly next: readonly number[];
  /** The timetable in the form in which a person would write it. */
  readonly written: Pick<CronFields, 'at' | 'every' | 'cron' | 'timeZone' | 'format'>;
  /** The time zone of the job's times. */
  readonly timeZone: string;
}

export async function toJobView(
  deps: Pick<CronServices, 'senderNow' | 'timeZoneOf'>,
  job: CronJob,
): Promise<JobView> {
  const { id, title, task, timetable, state, nextAt, lastAt, lastOutcome, failures } = job;
  const { route, origin } = job;
  const agent = getConversationAgent(job.conversationId);
  const timeZone = deps.timeZoneOf(agent);
  const later = nextAt === null ? [] : listNextTimes(timetable, nextAt, TIMES_SHOWN - 1);
  return {
    ...{ id, agent, title, task, state, nextAt, lastAt, lastOutcome, failures },
    when: describeTimetable(timetable, timeZone),
    waits: state === 'on' ? findWaitReason(job, await deps.senderNow(job.origin, agent)) : null,
    chat: `${route.channel}:${route.chatId}`,
    chatTitle:
      (origin.chat.type === 'direct' ? origin.sender.name : origin.chat.title) || route.chatId,
    next: state === 'on' && nextAt !== null ? [nextAt, ...later] : [],
    written: { ...toTimetableInput(timetable, timeZone), ...getFormatInput(origin) },
    timeZone: getZone(timetable) ?? timeZone,
  };
}

/** A timetable's time zone, if the timetable has its own. */
export function getZone(timetable: Timetable): string | undefined {
  return timetable.kind === 'every' ? undefined : timetable.timeZone;
}

/** How many upcoming runs are listed. */
export const TIMES_SHOWN = 3;

export function formatJob(view: JobView): string {
  const format = view.written.format === undefined ? null : 'answers in JSON';
  return [
    `${formatTitleAndId(view)}: ${view.when}`,
    describeJobState(view),
    format,
    describeLastJobRun(view),
  ]
    .filter((part) => part !== null)
    .join('; ');
}

function describeJobState({ state, waits, nextAt, timeZone }: JobView): string {
  switch (state) {
    case 'over':
      return 'over';
    case 'paused':
      return 'paused';
    case 'on': {
      const next = nextAt === null ? 'never' : formatWallDayAndMinute(nextAt, timeZone);
      return waits === null ? `next ${next}` : `waits, because ${waits}`;
    }
  }
}

function describeLastJobRun({ lastAt, lastOutcome, failures, timeZone }: JobView): string | null {
  if (lastAt === null) return null;
  const row = failures > 1 ? ` (${failures} times in a row)` : '';
  return `last ${formatWallDayAndMinute(lastAt, timeZone)}, ${lastOutcome ?? 'under way'}${row}`;
}

/** A run that starts this much later than scheduled (ms) is announced as late. */
const LATE_MS = 2 * 60_000;
const MINUTE_MS = 60_000;

/** The scheduled and the actual start of a run, in ms. */
export interface DueRun {
  readonly dueAt: number;
  readonly now: number;
  readonly timeZone: string;
}

/**
 * Formats the message that starts the turn for a job. The message is marked once (G08), and each
 * line of the task is quoted, so that it cannot look like text from Parley or from a person (P18).
 */
export function formatDueMessage(
  { id, title, task }: Pick<CronJob, 'id' | 'title' | 'task'>,
  { dueAt, now, timeZone }: DueRun,
): string {
  const late =
    now - dueAt < LATE_MS
      ? ''
      : ` It was due at ${formatWallDayAndMinute(dueAt, timeZone)} (${timeZone}), ${formatAgo(now - dueAt)} ago: tell that it comes late.`;
  return `⚙️ The time of the job ${formatTitleAndId({ title, id })} has come. It was asked for in this chat; no person has written just now.${late} What is to be done:\n\n${quoteLines(task)}\n\nDo it now, in the language of this chat. Your answer is sent there: a reminder goes to the people here and is not confirmed.`;
}

/** Formats the notice about a job that failed too often, without the system mark. */
export function formatGaveUpNotice(
  job: Pick<CronJob, 'id' | 'title' | 'timetable' | 'failures'>,
): string {
  const times = `failed ${job.failures} times in a row`;
  if (job.timetable.kind === 'once') {
    return `The job ${formatTitleAndId(job)} ${times}. I have given up on it.`;
  }
  return `The job ${formatTitleAndId(job)} ${times}. I have paused it; ask me to resume it once the cause is fixed, or use \`parley cron resume ${job.id}\`.`;
}

export function formatTitleAndId({ title, id }: Pick<CronJob, 'title' | 'id'>): string {
  return `${JSON.stringify(title)} (${id})`;
}

function formatAgo(ms: number): string {
  const hours = 60 * MINUTE_MS;
  const unit = ms < 2 * hours ? MINUTE_MS : ms < 48 * hours ? hours : 24 * hours;
  return formatLength(Math.round(ms / unit) * unit);
}

const UNITS = [
  [24 * 60 * 60_000, 'day'],
  [60 * 60_000, 'hour'],
  [60_000, 'minute'],
  [1000, 'second'],
] as const;

/**
 * Describes a timetable for people and models. One-off jobs are shown in `timeZone`, unless the job
 * has its own time zone.
 */
export function describeTimetable(timetable: Timetable, timeZone: string): string {
  switch (timetable.kind) {
    case 'once':
      return `once, ${formatWallDayAndMinute(timetable.at, timetable.timeZone ?? timeZone)}`;
    case 'every':
      return `every ${formatInterval(timetable)}`;
    case 'calendar':
      return `every ${formatCalendarInterval(timetable)} (${timetable.timeZone})`;
    case 'cron':
      return `cron ${timetable.expression} (${timetable.timeZone})`;
  }
}

function getFormatInput({ responseFormat }: InboundMessage): Pick<JobView['written'], 'format'> {
  if (responseFormat === undefined) return {};
  return { format: responseFormat === 'json' ? 'json' : JSON.stringify(responseFormat, null, 2) };
}

function toTimetableInput(timetable: Timetable, timeZone: string): JobView['written'] {
  switch (timetable.kind) {
    case 'once':
      return toOneOffInput(timetable.at, timetable.timeZone ?? timeZone);
    case 'every':
      return { every: formatInterval(timetable), timeZone };
    case 'calendar':
      return { every: formatCalendarInterval(timetable), timeZone: timetable.timeZone };
    case 'cron':
      return { cron: timetable.expression, timeZone: timetable.timeZone };
  }
}

function toOneOffInput(at: number, timeZone: string): JobView['written'] {
  return { at: formatWallMinute(at, timeZone), timeZone };
}

/** Formats an interval such as `2 days at 09:00`, in the form that `every` accepts. */
function formatCalendarInterval({ count, unit, from }: CalendarTimetable): string {
  return `${pluralize(count, unit)} at ${from.slice(11)}`;
}

/**
 * Formats an interval such as `90 minutes` or `2 hours`. Elapsed time is formatted in hours at
 * most, because days would be parsed back as calendar days.
 */
function formatInterval({ ms, passes }: Extract<Timetable, { kind: 'every' }>): string {
  return formatLength(ms, passes ? UNITS.slice(1) : UNITS);
}

/** Formats a duration (ms) in the largest unit that divides it. */
function formatLength(ms: number, units: readonly (typeof UNITS)[number][] = UNITS): string {
  const [unit, name] = units.find(([length]) => ms >= length && ms % length === 0) ?? [
    1000,
    'second',
  ];
  return pluralize(Math.round(ms / unit), name);
}

export interface CronServices extends Pick<Runtime, 'clock' | 'log'> {
  readonly store: Pick<Store, 'cronJobs' | 'links' | 'retention'>;
  /** Returns an agent's time zone (F14), which is used for all times that do not name one. */
  readonly timeZoneOf: (agent: string | undefined) => string;
  /**
   * Returns the current permissions that a job's requester has with its agent; null if their
   * account is not connected.
   */
  readonly senderNow: (
    origin: InboundMessage,
    agent: string | undefined,
  ) => Promise<CurrentSender | null>;
  readonly settings: CronJobLimits & {
    /** Who may create jobs in chats: only owners, or everyone who may write there. */
    readonly who: 'owners' | 'everyone';
    readonly minMinutes: number;
  };
  readonly newCode: () => string;
  /** Called after jobs have changed, so that the schedule is reloaded. */
  readonly planned: () => Promise<void>;
  readonly wake: (conversationId: string) => Promise<void>;
  /** Notifies a job's chat, with the system mark (G08) and once per key. */
  readonly notify: (job: CronJob, key: string, text: string) => Promise<void>;
  /**
   * Asks an agent's owner in their direct chat, with the system mark and once per key. Returns
   * false if no owner has a direct chat yet. Absent in processes that do not ask questions.
   */
  readonly askOwner?: (question: OwnerQuestion) => Promise<boolean>;
}

export interface OwnerQuestion {
  readonly agent: string | undefined;
  readonly key: string;
  readonly markdown: string;
  readonly buttons: readonly { readonly label: string; readonly data: string }[];
}

/**
 * Returns why a job waits: its chat is not connected, or its requester may no longer write in the
 * chat. Null if the job can run.
 */
export function findWaitReason(
  { origin }: Pick<CronJob, 'origin'>,
  sender: CurrentSender | null,
): string | null {
  if (sender !== null) return sender.refusal;
  return `${origin.channel} (${origin.account}) is not connected here`;
}
