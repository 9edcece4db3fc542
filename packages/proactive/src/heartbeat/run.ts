import {
  HEARTBEAT_PROMPT,
  type InboundMessage,
  type NewsChecker,
  type Sender,
  toAgentConversation,
} from '@parley/core';
import { HEARTBEAT_LANE, type HeartbeatRunRequest } from '@parley/store';
import type { AlertChat } from '../alert-target.ts';
import {
  computeWindowOnDay,
  findMatchingDay,
  findWindowAfter,
  findWindowAt,
  WHOLE_DAY,
  type ZoneClock,
} from '../zone-clock.ts';
import { type HeartbeatState, listLastRuns } from './state.ts';
import { describeSchedule, FLOOR_MINUTES, getCadenceMinutes, type StandingTask } from './task.ts';

const MINUTE_MS = 60_000;
/**
 * How far the clocks of different machines may differ, in ms. A last run further in the future was
 * recorded with a wrong clock.
 */
const SKEW_MS = 5 * MINUTE_MS;

export interface TaskOutlook {
  readonly task: StandingTask;
  readonly next: NextRun;
}

/** A task that may run now. */
export interface DueTask {
  readonly task: StandingTask;
  /** When the task could first have run, in ms. */
  readonly since: number;
}

export interface ObservationTime {
  readonly clock: ZoneClock;
  readonly now: number;
}

/**
 * Returns the tasks that may run within their hours, the most overdue first; a heartbeat runs one
 * of them (H02). Runs missed while the machine slept are merged into one. Tasks that never ran come
 * first, in file order. `nextAt` is when the first of the remaining tasks is due, and `lastRuns`
 * contains when each task last started, by name (both in ms).
 */
export function listDueTasks(
  tasks: readonly StandingTask[],
  lastRuns: ReadonlyMap<string, number>,
  looking: ObservationTime,
): { readonly due: readonly DueTask[]; readonly nextAt: number | null } {
  const fresh: DueTask[] = [];
  const overdue: DueTask[] = [];
  let nextAt: number | null = null;
  for (const { task, next } of listTaskOutlooks(tasks, lastRuns, looking)) {
    if (next.kind !== 'due') nextAt = Math.min(nextAt ?? next.nextAt, next.nextAt);
    else (next.neverRan ? fresh : overdue).push({ task, since: next.since });
  }
  return { due: [...fresh, ...overdue.sort((a, b) => a.since - b.since)], nextAt };
}

/** Returns when each task runs next and why it does not run now, in file order. */
export function listTaskOutlooks(
  tasks: readonly StandingTask[],
  lastRuns: ReadonlyMap<string, number>,
  looking: ObservationTime,
): readonly TaskOutlook[] {
  return tasks.map((task) => ({
    task,
    next: computeNextRun(task, lastRuns.get(task.name) ?? null, looking),
  }));
}

/** Times are in ms. */
type NextRun =
  /** The task may run now, and could have run since `since`. */
  | { readonly kind: 'due'; readonly since: number; readonly neverRan: boolean }
  /**
   * `out-of-hours`: the task is due, but outside its hours. `done`: the task has already run on
   * these days.
   */
  | { readonly kind: 'not-yet' | 'out-of-hours' | 'done'; readonly nextAt: number };

/** Returns when a task is due, given its last run (null if it never ran). */
export function computeNextRun(
  task: StandingTask,
  lastRun: number | null,
  at: ObservationTime,
): NextRun {
  const { clock, now } = at;
  const hours = findWindowAt(clock, task.window, now);
  const opensAt = () => findWindowAfter(clock, task.window, now).start;
  if (lastRun === null || isFromWrongClock(task, lastRun, at)) {
    if (hours !== null) return { kind: 'due', since: hours.start, neverRan: true };
    return { kind: 'not-yet', nextAt: opensAt() };
  }
  const since = computeNextDueTime(task, lastRun, clock);
  if (since > now) {
    const isDone = task.cadence.kind === 'days' && hours !== null;
    return { kind: isDone ? 'done' : 'not-yet', nextAt: since };
  }
  if (hours !== null) return { kind: 'due', since, neverRan: false };
  return { kind: 'out-of-hours', nextAt: opensAt() };
}

/** Whether a last run is in the future. A task counted in days may nevertheless have run today. */
function isFromWrongClock(
  task: StandingTask,
  lastRun: number,
  { clock, now }: ObservationTime,
): boolean {
  if (lastRun <= now + SKEW_MS) return false;
  return (
    task.cadence.kind === 'minutes' ||
    findWindowDay(task, lastRun, clock) > findWindowDay(task, now, clock)
  );
}

/** Returns when a task is due again after a run, within its hours. */
function computeNextDueTime(task: StandingTask, lastRun: number, clock: ZoneClock): number {
  const { cadence, window } = task;
  if (cadence.kind === 'days') {
    const day = findMatchingDay(window, findWindowDay(task, lastRun, clock) + cadence.days);
    return computeWindowOnDay(clock, window, day).start;
  }
  const wanted = lastRun + Math.max(getCadenceMinutes(cadence), FLOOR_MINUTES) * MINUTE_MS;
  const isIn = findWindowAt(clock, window, wanted) !== null;
  return isIn ? wanted : findWindowAfter(clock, window, wanted).start;
}

/**
 * Returns the day whose hours contain this moment. Outside the hours (if a person requested the
 * run), returns the day that most recently had these hours.
 */
function findWindowDay({ window }: StandingTask, moment: number, clock: ZoneClock): number {
  const hours = findWindowAt(clock, window, moment);
  return hours?.day ?? findWindowAfter(clock, window, moment).day - 1;
}

/** The values that determine which task runs. */
export interface TaskSelectionInput {
  readonly tasks: readonly StandingTask[];
  readonly state: HeartbeatState;
  readonly at: ObservationTime;
}

/**
 * The tasks that may run now, most overdue first; the first task that can run is chosen. `reason`
 * explains why no task runs.
 */
export function listCandidates(
  { tasks, state, at }: TaskSelectionInput,
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
  const lastRuns = new Map(listLastRuns(state));
  // Heartbeats may be late after high load or a crash, so the last runs are moved to a slightly
  // earlier time. Otherwise, a punctual heartbeat would find that its task ran 29 minutes and 59
  // seconds ago, and defer the task to the next heartbeat.
  for (const task of tasks) {
    const last = lastRuns.get(task.name);
    if (last === undefined || task.cadence.kind !== 'minutes') continue;
    const shortest = Math.min(task.cadence.minutes, everyMinutes);
    lastRuns.set(task.name, last - (shortest / 4) * MINUTE_MS);
  }
  const { due } = listDueTasks(tasks, lastRuns, at);
  return { candidates: due.map(({ task }) => task), reason: 'no task is due' };
}

/** Problems with checks that cannot run in this installation; their tasks run each time. */
export function listUnsupportedChecks(
  { name, line, check }: StandingTask,
  checkForNews: NewsChecker | undefined,
): readonly string[] {
  const why = check === undefined ? null : (checkForNews?.whyNot(check) ?? null);
  if (why === null) return [];
  return [`HEARTBEAT.md, line ${line}, ${name}: it runs without its check, because ${why}.`];
}

interface NewTaskRun {
  readonly id: string;
  readonly agent: string;
  /** The prefix of the agent's conversation ids; absent for the default agent. */
  readonly agentName?: string | undefined;
  /** The last run in local time. */
  readonly lastRun: string;
  /** The language of the people who read the alert, if known (H10). */
  readonly language?: string | undefined;
  /** The text in HEARTBEAT.md outside its tasks. */
  readonly context?: string | undefined;
  readonly now: number;
}

/** Creates the message that starts a run of a standing task, in the heartbeat's lane. */
export function createTaskRunRequest(
  { name, instruction, routine, ...task }: StandingTask,
  target: AlertChat,
  { id, agent, agentName, lastRun, language, context, now }: NewTaskRun,
): HeartbeatRunRequest {
  const schedule = `${describeSchedule(task)}, last run ${lastRun}`;
  return createRunRequestInChat(target, {
    ...{ id, agent, task: name, now, text: HEARTBEAT_PROMPT },
    lane: toAgentConversation(agentName, `${HEARTBEAT_LANE}${agent}`),
    reason: `the standing task ${name} was due`,
    variables: {
      ...{ task: name, instruction, schedule },
      ...(language && { language }),
      ...(context && routine === undefined && { context }),
      ...(routine && { routine }),
    },
  });
}

interface LaneMessage
  extends Pick<HeartbeatRunRequest, 'id' | 'agent' | 'task'>,
    Pick<InboundMessage, 'text' | 'variables'> {
  readonly lane: string;
  readonly reason: string;
  readonly now: number;
  /** The sender; by default, the sender of the newest message in the chat. */
  readonly sender?: Sender;
}

/** Builds a run whose answer goes to the given chat. The message is in a dedicated lane. */
export function createRunRequestInChat(
  { conversationId, route, last, isOwners }: AlertChat,
  { id, agent, task, lane, reason, now, text, variables, sender = last.sender }: LaneMessage,
): HeartbeatRunRequest {
  const { replyToMessageId: _, ...free } = route;
  return {
    ...{ id, agent, task, target: conversationId },
    message: {
      conversationId: lane,
      // The message does not quote another message. Both the message and the route contain the chat
      // type, so that neither alone can widen access.
      route: { ...free, chatType: last.chat.type },
      receivedAt: now,
      fromOwner: isOwners,
      reason,
      message: {
        channel: last.channel,
        account: last.account,
        messageId: id,
        chat: { ...last.chat, id: lane },
        ...{ sender, text, variables },
        mentions: [],
        addressed: true,
        sentAt: now,
        trigger: 'heartbeat',
      },
    },
  };
}

/** The task to preview if the tasks in HEARTBEAT.md do not use a model. */
export const EXAMPLE_TASK: StandingTask = {
  name: 'example',
  line: 0,
  cadence: { kind: 'minutes', minutes: 30 },
  window: WHOLE_DAY,
  instruction: 'An example of a standing task: look whether anything needs attention.',
};

/** Builds a run of the example task in a chat, for previews without a database. */
export function createExampleRunRequest(
  chat: AlertChat,
  run: Omit<NewTaskRun, 'id' | 'lastRun'>,
): HeartbeatRunRequest {
  return createTaskRunRequest(EXAMPLE_TASK, chat, { ...run, id: 'preview', lastRun: 'never' });
}
