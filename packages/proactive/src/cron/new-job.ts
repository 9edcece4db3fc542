import { conversationIdOf } from '@parley/channels';
import type { CronOrder, CronWish, InboundMessage } from '@parley/contracts';
import type { CronChange, NewCronJob } from '@parley/store';
import { type ReadTimetable, readTimetable, type TimetableRules } from './read-timetable.ts';

const LONGEST_TITLE = 80;
const LONGEST_TASK = 4_000;

/** A job that can be stored, or why it cannot. */
export type MadeJob =
  | { readonly kind: 'job'; readonly job: NewCronJob }
  | { readonly kind: 'problem'; readonly message: string };

interface Making {
  readonly id: string;
  readonly rules: TimetableRules;
  /** As things are now. */
  readonly sender: { readonly isOwner: boolean; readonly conversationId: string } | null;
}

/** Makes a job of what somebody wants. Of the message that asked only its place and writer are kept. */
export function newJob(
  { askedBy, origin, route, wish }: Extract<CronOrder, { action: 'add' }>,
  { id, rules, sender }: Making,
): MadeJob {
  const task = wish.task?.trim() ?? '';
  if (task === '') {
    return { kind: 'problem', message: 'Say in `task` what is to be done when its time comes.' };
  }
  const read = readTimetable(wish, rules);
  if (read.kind === 'problem') return read;
  const { replyToMessageId: _, ...free } = route;
  const job: NewCronJob = {
    id,
    askedBy,
    conversationId: sender?.conversationId ?? conversationIdOf(origin),
    route: free,
    origin: placeOf(origin),
    fromOwner: sender?.isOwner === true && origin.chat.type === 'direct',
    title: titleOf(wish.title, task),
    task: task.slice(0, LONGEST_TASK),
    timetable: read.timetable,
    nextAt: read.nextAt,
  };
  return { kind: 'job', job };
}

/** What a wish changes of a job, or why it cannot. */
export function changeOf(wish: CronWish, rules: TimetableRules): CronChange | string {
  const isTime = [wish.at, wish.every, wish.cron, wish.timeZone].some((one) => one !== undefined);
  const read: ReadTimetable | null = isTime ? readTimetable(wish, rules) : null;
  if (read?.kind === 'problem') return read.message;
  const task = wish.task?.trim();
  const title = wish.title?.trim();
  return {
    ...(task && { task: task.slice(0, LONGEST_TASK) }),
    ...(title && { title: titleOf(title, '') }),
    ...(read !== null && { timetable: read.timetable, nextAt: read.nextAt, failures: 0 }),
  };
}

function titleOf(title: string | undefined, task: string): string {
  const words = (title?.trim() || task).replace(/\s+/g, ' ');
  return words.length <= LONGEST_TITLE ? words : `${words.slice(0, LONGEST_TITLE - 1).trimEnd()}…`;
}

function placeOf({ channel, account, messageId, chat, sender, sentAt }: InboundMessage) {
  const base = { channel, account, messageId, chat, sender, sentAt };
  return { ...base, text: '', mentions: [], addressed: true, variables: {} };
}
