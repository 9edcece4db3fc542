import type { BeatSlot } from '@parley/store';
import { restrictView } from '@parley/workspace';
import { zoneClock } from '../clock/zone-clock.ts';
import { type Asked, type BeatOutcome, beatOnce, type Standing } from './beat-once.ts';
import type { CheckForNews } from './check-for-news.ts';
import { outlook } from './due-task.ts';
import {
  HEARTBEAT_READS,
  type HeartbeatDeps,
  type HeartbeatStatus,
  TASKS_FILE,
} from './heartbeat.ts';
import { lastRunsOf } from './heartbeat-state.ts';
import { readTasks } from './read-tasks.ts';
import type { StandingTask } from './standing-task.ts';
import { openStateFile } from './state-file.ts';
import { describeTaskProblem } from './task-problem.ts';
import { tokensToday } from './tokens-today.ts';

/** The beats of one agent, and how its tasks stand. */
export interface Beats {
  /** One beat: at its time, or because somebody asked for it (then there is no slot). */
  beat(slot: BeatSlot | null, asked?: Asked): Promise<BeatOutcome>;
  status(): Promise<HeartbeatStatus>;
}

const WHOLE_FILE = 100_000;

/** Opens the file of tasks and the one of their state. */
export function openBeats(deps: HeartbeatDeps): Beats {
  const view = restrictView(deps.view, { id: 'heartbeat', reads: HEARTBEAT_READS }, deps.log);
  const stateFile = openStateFile(view, deps.log);
  let lastProblems = '';
  const read = async (): Promise<Standing & { readonly problems: readonly string[] }> => {
    const file = await view.read(TASKS_FILE, WHOLE_FILE);
    const found = readTasks(file.kind === 'file' ? file.text : '');
    const problems = [
      ...found.problems.map(describeTaskProblem),
      ...found.tasks.flatMap((task) => uncheckable(task, deps.checkForNews)),
    ];
    if (problems.length > 0 && problems.join() !== lastProblems) {
      deps.log.warn({ problems }, 'HEARTBEAT.md is not all understood');
    }
    lastProblems = problems.join();
    const state = await stateFile.read(await deps.store.heartbeats.lastRuns(deps.agent.id));
    const at = { now: deps.clock(), clock: zoneClock(deps.agent.timeZone) };
    return { tasks: found.tasks, problems, state, at };
  };
  const beat = async (slot: BeatSlot | null, asked?: Asked): Promise<BeatOutcome> => {
    const outcome = await beatOnce(deps, { standing: await read(), stateFile, slot, asked });
    deps.log.debug({ agent: deps.agent.id, ...outcome }, 'beat');
    return outcome;
  };
  return {
    beat,
    async status() {
      const { tasks, state, problems, at } = await read();
      return {
        plan: await deps.store.heartbeats.plan(deps.agent.id),
        tasks: outlook(tasks, lastRunsOf(state), at),
        state,
        problems,
        tokensToday: await tokensToday(deps),
      };
    },
  };
}

/** What is said of a check that can never be made here: its task runs each time. */
function uncheckable(
  { name, line, check }: StandingTask,
  checkForNews: CheckForNews | undefined,
): readonly string[] {
  const why = check === undefined ? null : (checkForNews?.whyNot(check) ?? null);
  if (why === null) return [];
  return [`HEARTBEAT.md, line ${line}, ${name}: it runs without its check, as ${why}.`];
}
