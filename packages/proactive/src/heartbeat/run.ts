import { createHash } from 'node:crypto';
import { type NewsCheck, type NewsChecker, reasonOf } from '@parley/core';
import { type BeatOrder, type BeatPlan, type BeatSlot, HEARTBEAT_LANE } from '@parley/store';
import { restrictView } from '@parley/workspace';
import type { AlertChat } from '../alerts.ts';
import { startOfDay, wallMinute, zoneClock } from '../zone-clock.ts';
import { dueTasks, type Looking, outlook, type TaskOutlook } from './due-task.ts';
import type { HeartbeatServices } from './heartbeat.ts';
import { readTasks } from './read-tasks.ts';
import { type HeartbeatState, lastRunsOf, openStateFile } from './state.ts';
import {
  describeSchedule,
  describeTaskProblem,
  HEARTBEAT_READS,
  type StandingTask,
  TASKS_FILE,
} from './task.ts';

export interface HeartbeatStatus {
  readonly plan: BeatPlan | null;
  readonly tasks: readonly TaskOutlook[];
  readonly state: HeartbeatState;
  readonly problems: readonly string[];
  readonly tokensToday: number;
}

/** Whether a run started, or why none did. */
export type BeatOutcome =
  | { readonly kind: 'begun'; readonly task: string }
  | { readonly kind: 'rested'; readonly reason: string };

interface Requested {
  readonly id: string;
  readonly task?: string | undefined;
}

interface Standing {
  readonly tasks: readonly StandingTask[];
  readonly state: HeartbeatState;
  readonly at: Looking;
}

const WHOLE_FILE = 100_000;

export function openRuns(deps: HeartbeatServices) {
  const { store, agent, log } = deps;
  const view = restrictView(deps.view, { id: 'heartbeat', reads: HEARTBEAT_READS }, log);
  const stateFile = openStateFile(view, log);
  let lastProblems = '';
  const read = async (): Promise<Standing & { readonly problems: readonly string[] }> => {
    const file = await view.read(TASKS_FILE, WHOLE_FILE);
    const { tasks, ...found } = readTasks(file.kind === 'file' ? file.text : '');
    const problems = [
      ...found.problems.map(describeTaskProblem),
      ...tasks.flatMap((task) => uncheckable(task, deps.checkForNews)),
    ];
    if (problems.length > 0 && problems.join() !== lastProblems) {
      log.warn({ problems }, 'HEARTBEAT.md is not all understood');
    }
    lastProblems = problems.join();
    const state = await stateFile.read(await store.heartbeats.lastRuns(agent.id));
    const at = { now: deps.clock(), clock: zoneClock(agent.timeZone) };
    return { tasks, problems, state, at };
  };
  return {
    /** Starts the run of at most one task, the most overdue one that can run (H02). */
    async beat(slot: BeatSlot | null, asked?: Requested): Promise<BeatOutcome> {
      const outcome = await start(deps, stateFile, { standing: await read(), slot, asked });
      if (outcome.kind === 'rested' && slot !== null) {
        await store.heartbeats.rest(slot, outcome.reason, deps.clock());
      }
      log.debug({ agent: agent.id, ...outcome }, 'beat');
      return outcome;
    },
    async status(): Promise<HeartbeatStatus> {
      const { tasks, state, problems, at } = await read();
      return {
        plan: await store.heartbeats.plan(agent.id),
        tasks: outlook(tasks, lastRunsOf(state), at),
        state,
        problems,
        tokensToday: await tokensToday(deps),
      };
    },
  };
}

/** What all runs since midnight in the agent’s time zone have used, in tokens (H05). */
export function tokensToday({
  store,
  agent,
  clock,
}: Pick<HeartbeatServices, 'store' | 'agent' | 'clock'>): Promise<number> {
  return store.heartbeats.tokensSince(agent.id, startOfDay(clock(), agent.timeZone));
}

/** The problem of a check that cannot be made here: its task runs each time. */
function uncheckable(
  { name, line, check }: StandingTask,
  checkForNews: NewsChecker | undefined,
): readonly string[] {
  const why = check === undefined ? null : (checkForNews?.whyNot(check) ?? null);
  if (why === null) return [];
  return [`HEARTBEAT.md, line ${line}, ${name}: it runs without its check, as ${why}.`];
}

interface Beat {
  readonly standing: Standing;
  readonly slot: BeatSlot | null;
  readonly asked: Requested | undefined;
}

const STOPPED = {
  busy: 'the run before is not over yet',
  gone: 'another process has this beat',
} as const;

async function start(
  deps: HeartbeatServices,
  stateFile: ReturnType<typeof openStateFile>,
  { standing, slot, asked }: Beat,
): Promise<BeatOutcome> {
  const { store, agent, settings } = deps;
  const rested = (reason: string): BeatOutcome => ({ kind: 'rested', reason });
  const { candidates, reason } = candidatesFor(standing, settings.everyMinutes, asked);
  if (candidates.length > 0 && (await tokensToday(deps)) >= settings.tokensPerDay) {
    return rested(`the ${settings.tokensPerDay} tokens of today are used up`);
  }
  let { state } = standing;
  let why = reason;
  for (const task of candidates) {
    const target = await deps.findTarget(task);
    if (target.kind === 'none') {
      why = target.reason;
      continue;
    }
    const { lastRun = null, more = {} } = state.tasks.get(task.name) ?? {};
    const checked = await resultOf(deps, task);
    // The moment that the state file is given too: a later one would be taken for a run that it missed.
    const now = deps.clock();
    // A task that a person requests by name runs anyway.
    if (checked !== null && checked === more.checked && asked?.task === undefined) {
      state = await stateFile.started(state, task, now);
      why = `${task.name}: nothing is new`;
      continue;
    }
    // The id is derived from the slot: another process with the same slot cannot start a second run.
    const id = asked?.id ?? `beat_${agent.id}_${slot?.dueAt ?? now}`;
    const last = lastRun === null ? 'never' : wallMinute(lastRun, agent.timeZone);
    const order = orderOf({ id, agent: agent.id, task, lastRun: last, target, now });
    const begun = await store.heartbeats.begin(order, slot, now);
    if (begun === 'busy' || begun === 'gone') return rested(STOPPED[begun]);
    await deps.wake(order.message.conversationId);
    await stateFile.started(state, task, now, checked === null ? {} : { checked });
    return { kind: 'begun', task: task.name };
  }
  return rested(why);
}

/** The tasks that may run now, the most overdue first: the first that can is run. `reason`: why none does. */
function candidatesFor(
  { tasks, state, at }: Standing,
  everyMinutes: number,
  asked: Requested | undefined,
): { readonly candidates: readonly StandingTask[]; readonly reason: string } {
  if (tasks.length === 0) return { candidates: [], reason: 'HEARTBEAT.md has no tasks' };
  const wanted = asked?.task?.toLowerCase();
  if (wanted !== undefined) {
    const names = tasks.map(({ name }) => name).join(', ');
    return {
      candidates: tasks.filter(({ name }) => name.toLowerCase() === wanted).slice(0, 1),
      reason: `HEARTBEAT.md has no task "${asked?.task}"; there are: ${names}`,
    };
  }
  const lastRuns = new Map(lastRunsOf(state));
  // Delays follow a busy moment or a crash. A heartbeat that is on time must not find that its task ran
  // 29 minutes and 59 seconds ago, and leave it to the next one.
  for (const { name, cadence } of tasks) {
    const last = lastRuns.get(name);
    if (last === undefined || cadence.kind !== 'minutes') continue;
    lastRuns.set(name, last - (Math.min(cadence.minutes, everyMinutes) / 4) * 60_000);
  }
  const { due } = dueTasks(tasks, lastRuns, at);
  return { candidates: due.map(({ task }) => task), reason: 'no task is due' };
}

/**
 * A hash of the result of a task's check; the state file keeps it in place of the result. Null for a
 * check that is not made or fails, which counts as new: the model finds out why.
 */
async function resultOf(
  { checkForNews, log }: HeartbeatServices,
  { name, check }: { readonly name: string; readonly check?: NewsCheck },
): Promise<string | null> {
  if (check === undefined || checkForNews === undefined) return null;
  if (checkForNews.whyNot(check) !== null) return null;
  try {
    const seen = await checkForNews.look(check);
    return createHash('sha256').update(seen).digest('hex').slice(0, 16);
  } catch (error) {
    log.warn({ task: name, reason: reasonOf(error) }, 'the check of a standing task failed');
    return null;
  }
}

/** Marked as a system message (G08); the task itself is in the prompt. */
const TEXT = '⚙️ A standing task is due: do what the heartbeat part of your instructions says.';

interface NewOrder {
  readonly id: string;
  readonly agent: string;
  readonly task: StandingTask;
  readonly lastRun: string;
  readonly target: AlertChat;
  readonly now: number;
}

/** The message that starts a run, in the lane of the heartbeat, with the route of its alert. */
function orderOf({ id, agent, task, lastRun, target, now }: NewOrder): BeatOrder {
  const { conversationId, route, last, isOwners } = target;
  const lane = `${HEARTBEAT_LANE}${agent}`;
  const { replyToMessageId: _, ...free } = route;
  const { name, instruction, routine } = task;
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
        occasion: 'heartbeat',
      },
    },
  };
}
