import { quotedLines } from '@parley/contracts';
import type { CronJob } from '@parley/store';
import { wallDayAndMinute } from '../clock/wall-words.ts';
import { lengthWords } from './describe-timetable.ts';

/** Later than this (ms) is told: whoever reads a reminder should know that its time is over. */
const LATE_MS = 2 * 60_000;
const MINUTE_MS = 60_000;

/** When a run was due, when it begins, and where that is. Times in ms. */
export interface Due {
  readonly dueAt: number;
  readonly now: number;
  readonly timeZone: string;
}

/**
 * What the turn of a job begins with: marked once (G08), and each line of the task quoted, so that
 * nothing in it can pass for words of Parley or of a person (P18).
 */
export function dueWords(
  { id, title, task }: Pick<CronJob, 'id' | 'title' | 'task'>,
  { dueAt, now, timeZone }: Due,
): string {
  const late =
    now - dueAt < LATE_MS
      ? ''
      : ` It was due at ${wallDayAndMinute(dueAt, timeZone)} (${timeZone}), ${ago(now - dueAt)} ago: tell that it comes late.`;
  return `⚙️ The time of the job ${named({ title, id })} has come. It was asked for in this chat; nobody has written just now.${late} What is to be done:\n\n${quotedLines(task)}\n\nDo it now. Your answer is sent to this chat: a reminder is told to the people here, not confirmed.`;
}

/** What a chat is told of a job that has failed too often, without the mark. */
export function gaveUpWords(job: Pick<CronJob, 'id' | 'title' | 'timetable' | 'failures'>): string {
  const times = `failed ${job.failures} times in a row`;
  if (job.timetable.kind === 'once') {
    return `The job ${named(job)} ${times}. I have given it up.`;
  }
  return `The job ${named(job)} ${times}. I have paused it; ask me to resume it when the cause is gone, or use \`parley cron resume ${job.id}\`.`;
}

/** A job for people: its title as data, its id to name it by. */
export function named({ title, id }: Pick<CronJob, 'title' | 'id'>): string {
  return `${JSON.stringify(title)} (${id})`;
}

function ago(ms: number): string {
  const hours = 60 * MINUTE_MS;
  const unit = ms < 2 * hours ? MINUTE_MS : ms < 48 * hours ? hours : 24 * hours;
  return lengthWords(Math.round(ms / unit) * unit);
}
