import { type ReplyRoute, reasonOf } from '@parley/contracts';
import type { BeatPlan, BeatSlot } from '@parley/store';
import type { WorkspaceView } from '@parley/workspace';
import { zoneClock } from '../clock/zone-clock.ts';
import {
  type Asked,
  type BeatDeps,
  type BeatOutcome,
  beatOnce,
  type Standing,
} from './beat-once.ts';
import type { CheckForNews } from './check-for-news.ts';
import { outlook, type TaskOutlook } from './due-task.ts';
import { type HeartbeatState, lastRunsOf } from './heartbeat-state.ts';
import { readTasks } from './read-tasks.ts';
import type { StandingTask } from './standing-task.ts';
import { openStateFile } from './state-file.ts';
import { describeTaskProblem } from './task-problem.ts';
import { tokensToday } from './tokens-today.ts';

/** What the heartbeat of an agent works with. */
export interface HeartbeatDeps extends BeatDeps {
  /** The owner’s. */
  readonly view: WorkspaceView;
  readonly settings: {
    readonly enabled: boolean;
    readonly everyMinutes: number;
    readonly tokensPerDay: number;
  };
  /** Lets the owner know where runs fail one after the other. */
  readonly tellFailures?: () => Promise<void>;
  /** Wakes the delivery of a chat. */
  readonly deliver: (route: ReplyRoute) => Promise<void>;
}

/** How things stand, for `/heartbeat` and the console. */
export interface HeartbeatStatus {
  readonly plan: BeatPlan | null;
  readonly tasks: readonly TaskOutlook[];
  readonly state: HeartbeatState;
  /** What of HEARTBEAT.md was not understood, in sentences. */
  readonly problems: readonly string[];
  readonly tokensToday: number;
}

/** The heartbeat of one agent (H01–H05). */
export interface Heartbeat {
  /** Lets held alerts go, runs the beat that is due, and says when to look again (ms). */
  look(): Promise<number | null>;
  /** A beat on request: of the task that is due, or of the named one whether it is due or not. */
  now(id: string, task?: string): Promise<BeatOutcome>;
  status(): Promise<HeartbeatStatus>;
}

const MINUTE_MS = 60_000;
const WHOLE_FILE = 100_000;

/** Makes the heartbeat of an agent. */
export function createHeartbeat(deps: HeartbeatDeps): Heartbeat {
  const stateFile = openStateFile(deps.view, deps.log);
  let lastProblems = '';
  const read = async (): Promise<Standing & { readonly problems: readonly string[] }> => {
    const file = await deps.view.read('HEARTBEAT.md', WHOLE_FILE);
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
    look: () => lookOnce(deps, (slot) => beat(slot)),
    now: (id, task) => beat(null, { id, ...(task !== undefined && { task }) }),
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

async function lookOnce(
  deps: HeartbeatDeps,
  beat: (slot: BeatSlot) => Promise<BeatOutcome>,
): Promise<number | null> {
  const { store, agent, settings, clock } = deps;
  for (const route of await store.heartbeats.release(clock())) await deps.deliver(route);
  const heldUntil = await store.heartbeats.nextRelease();
  if (!settings.enabled) return heldUntil;
  const everyMs = settings.everyMinutes * MINUTE_MS;
  const { nextAt: dueAt } = await store.heartbeats.arm(agent.id, everyMs, clock());
  let nextAt = dueAt;
  if (dueAt <= clock()) {
    // What was missed while the machine slept is one beat, and the rhythm stays as it was.
    nextAt = dueAt + Math.ceil((clock() + 1 - dueAt) / everyMs) * everyMs;
    // Before the next run begins: it may end otherwise.
    await tellFailures(deps);
    await beat({ agent: agent.id, dueAt, nextAt });
  }
  return Math.min(nextAt, heldUntil ?? nextAt);
}

/** Not telling holds up no beat. */
async function tellFailures({ tellFailures: tell, agent, log }: HeartbeatDeps): Promise<void> {
  try {
    await tell?.();
  } catch (error) {
    const reason = reasonOf(error);
    log.warn({ agent: agent.id, reason }, 'the owner could not be told that heartbeats fail');
  }
}
