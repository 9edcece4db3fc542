import type { Logger } from '@parley/contracts';
import type { WorkspaceView } from '@parley/workspace';
import { STATE_FILE } from './heartbeat.ts';
import {
  type HeartbeatState,
  heartbeatStateText,
  lastRunsOf,
  readHeartbeatState,
  withRun,
} from './heartbeat-state.ts';
import { cadenceMinutes, type StandingTask } from './standing-task.ts';

/** Far more than a hundred tasks need, in characters. */
const WHOLE_FILE = 1_000_000;
/** Up to which run the file is complete; what began later was lost with the process that ran it. */
const NOTED = 'noted';

/** When tasks last ran, and what was looked at before. */
export interface StateFile {
  /**
   * The state as the file says it. Runs of the database that the file never heard of are added; what
   * a person has changed since stays as they wrote it.
   */
  read(begun: ReadonlyMap<string, number>): Promise<HeartbeatState>;
  /** Notes that a task began. A file that cannot be written is logged: the database knows, too. */
  began(
    state: HeartbeatState,
    task: StandingTask,
    at: number,
    more?: object,
  ): Promise<HeartbeatState>;
}

/** Opens the state file of a workspace, through the owner’s view. */
export function openStateFile(view: WorkspaceView, log: Logger): StateFile {
  let lastRepairs = '';
  return {
    async read(begun) {
      const file = await view.read(STATE_FILE, WHOLE_FILE);
      const { state, repairs } = readHeartbeatState(file.kind === 'file' ? file.text : '');
      const said = repairs.join(' ');
      if (said !== '' && said !== lastRepairs) log.warn({ repairs }, `${STATE_FILE} was mended`);
      lastRepairs = said;
      return withLostRuns(state, begun);
    },
    async began(state, task, at, more = {}) {
      const run = { at, cadenceMin: cadenceMinutes(task.cadence) };
      const after = (before: HeartbeatState): HeartbeatState =>
        noted(withRun(before, task.name, run), { task: task.name, at, more });
      let next = after(state);
      const written = await view.change(STATE_FILE, (text) => {
        // What a person has written since the state was read stays, too.
        const { state: today } = readHeartbeatState(text ?? '');
        next = after(withLostRuns(today, lastRunsOf(state)));
        return heartbeatStateText(next);
      });
      if (written.kind === 'refused') {
        log.warn({ reason: written.detail }, `${STATE_FILE} could not be written`);
      }
      return next;
    },
  };
}

/** Adds runs that began after the last one that was noted. */
function withLostRuns(state: HeartbeatState, begun: ReadonlyMap<string, number>): HeartbeatState {
  const written = state.more[NOTED];
  const noted = typeof written === 'string' ? Date.parse(written) : Number.NaN;
  let next = state;
  for (const [name, at] of begun) {
    // Without the line the file is new, or not ours: then it knows of no run at all.
    if (!Number.isNaN(noted) && at <= noted) continue;
    const cadenceMin = state.tasks.get(name)?.cadenceMin ?? null;
    const more = state.tasks.get(name)?.more ?? {};
    next = { ...next, tasks: new Map(next.tasks).set(name, { lastRun: at, cadenceMin, more }) };
  }
  return next;
}

function noted(
  state: HeartbeatState,
  { task, at, more }: { readonly task: string; readonly at: number; readonly more: object },
): HeartbeatState {
  const known = state.tasks.get(task);
  const tasks =
    known === undefined
      ? state.tasks
      : new Map(state.tasks).set(task, { ...known, more: { ...known.more, ...more } });
  return { tasks, more: { ...state.more, [NOTED]: new Date(at).toISOString() } };
}
