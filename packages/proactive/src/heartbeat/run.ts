import type { NewsChecker } from '@parley/core';
import { HEARTBEAT_LANE, type HeartbeatOrder } from '@parley/store';
import type { AlertChat } from '../alerts.ts';
import { WHOLE_DAY } from '../zone-clock.ts';
import { dueTasks, type Looking } from './due-task.ts';
import { type HeartbeatState, lastRunsOf } from './state.ts';
import { describeSchedule, type StandingTask } from './task.ts';

/** What decides which task runs. */
export interface RunFacts {
  readonly tasks: readonly StandingTask[];
  readonly state: HeartbeatState;
  readonly at: Looking;
}

const MINUTE_MS = 60_000;

/** The tasks that may run now, the most overdue first: the first that can is run. `reason`: why none does. */
export function candidatesFor(
  { tasks, state, at }: RunFacts,
  everyMinutes: number,
  name: string | undefined,
): { readonly candidates: readonly StandingTask[]; readonly reason: string } {
  if (tasks.length === 0) return { candidates: [], reason: 'HEARTBEAT.md has no tasks' };
  if (name !== undefined) {
    const isWanted = (task: StandingTask) => task.name.toLowerCase() === name.toLowerCase();
    const names = tasks.map((task) => task.name).join(', ');
    return {
      candidates: tasks.filter(isWanted).slice(0, 1),
      reason: `HEARTBEAT.md has no task "${name}"; there are: ${names}`,
    };
  }
  const lastRuns = new Map(lastRunsOf(state));
  // Delays follow a busy moment or a crash. A heartbeat that is on time must not find that its task ran
  // 29 minutes and 59 seconds ago, and leave it to the next one.
  for (const task of tasks) {
    const last = lastRuns.get(task.name);
    if (last === undefined || task.cadence.kind !== 'minutes') continue;
    const shortest = Math.min(task.cadence.minutes, everyMinutes);
    lastRuns.set(task.name, last - (shortest / 4) * MINUTE_MS);
  }
  const { due } = dueTasks(tasks, lastRuns, at);
  return { candidates: due.map(({ task }) => task), reason: 'no task is due' };
}

/** The problem of a check that cannot be made here: its task runs each time. */
export function uncheckable(
  { name, line, check }: StandingTask,
  checkForNews: NewsChecker | undefined,
): readonly string[] {
  const why = check === undefined ? null : (checkForNews?.whyNot(check) ?? null);
  if (why === null) return [];
  return [`HEARTBEAT.md, line ${line}, ${name}: it runs without its check, as ${why}.`];
}

/** Marked as a system message (G08); the task itself is in the prompt. */
const TEXT = '⚙️ A standing task is due: do what the heartbeat part of your instructions says.';

interface NewRun {
  readonly id: string;
  readonly agent: string;
  /** In local time. */
  readonly lastRun: string;
  readonly now: number;
}

/** The message that starts a run, in the lane of the heartbeat, with the route of its alert. */
export function runOrder(
  { name, instruction, routine, ...task }: StandingTask,
  { conversationId, route, last, isOwners }: AlertChat,
  { id, agent, lastRun, now }: NewRun,
): HeartbeatOrder {
  const lane = `${HEARTBEAT_LANE}${agent}`;
  const { replyToMessageId: _, ...free } = route;
  const schedule = `${describeSchedule(task)}, last run ${lastRun}`;
  return {
    id,
    agent,
    task: name,
    target: conversationId,
    message: {
      conversationId: lane,
      // It replies to no message. Both carry the kind of chat, so that neither can widen it.
      route: { ...free, chatType: last.chat.type },
      receivedAt: now,
      fromOwner: isOwners,
      reason: `the standing task ${name} was due`,
      message: {
        channel: last.channel,
        account: last.account,
        messageId: id,
        chat: { ...last.chat, id: lane },
        sender: last.sender,
        text: TEXT,
        mentions: [],
        addressed: true,
        sentAt: now,
        variables: { task: name, instruction, schedule, ...(routine && { routine }) },
        trigger: 'heartbeat',
      },
    },
  };
}

/** What a preview shows where HEARTBEAT.md has no task that asks a model. */
export const EXAMPLE_TASK: StandingTask = {
  name: 'example',
  line: 0,
  cadence: { kind: 'minutes', minutes: 30 },
  window: WHOLE_DAY,
  instruction: 'An example of a standing task: look whether anything needs attention.',
};

/** A run of the example in a chat, where there is no database to ask. */
export function exampleRun(chat: AlertChat, run: Omit<NewRun, 'id' | 'lastRun'>): HeartbeatOrder {
  return runOrder(EXAMPLE_TASK, chat, { ...run, id: 'preview', lastRun: 'never' });
}
