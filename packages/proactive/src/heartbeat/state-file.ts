import type { Logger } from '@parley/core';
import type { WorkspaceView } from '@parley/workspace';
import {
  type HeartbeatState,
  heartbeatStateText,
  NOTED,
  readHeartbeatState,
  withChecks,
  withLostRuns,
  withTask,
} from './state.ts';
import { cadenceMinutes, OPENCLAW_STATE_FILE, STATE_FILE, type StandingTask } from './task.ts';

/** More than a hundred tasks need, in characters. */
const WHOLE_FILE = 1_000_000;

/** heartbeat-state.json, or where there is none the file of OpenClaw's agents. */
export async function readStateFile(files: Pick<WorkspaceView, 'read'>): Promise<string> {
  const own = await files.read(STATE_FILE, WHOLE_FILE);
  const file = own.kind === 'file' ? own : await files.read(OPENCLAW_STATE_FILE, WHOLE_FILE);
  return file.kind === 'file' ? file.text : '';
}

/** The state file of a workspace, through the owner’s view. */
export function openStateFile(view: WorkspaceView, log: Logger) {
  let lastRepairs = '';
  return {
    /** Runs of the database that the file lacks are added; later changes by a person stay. */
    async read(
      started: ReadonlyMap<string, number>,
      tasks: readonly StandingTask[],
    ): Promise<HeartbeatState> {
      const { state, repairs } = readHeartbeatState(await readStateFile(view));
      const said = repairs.join(' ');
      if (said !== '' && said !== lastRepairs) log.warn({ repairs }, `${STATE_FILE} was repaired`);
      lastRepairs = said;
      const runs = [...started].map(([name, lastRun]) => [name, { lastRun }] as const);
      return withChecks(withLostRuns(state, runs), tasks);
    },
    /** Records that a task started. A file that cannot be written is logged: the database knows, too. */
    async started(
      state: HeartbeatState,
      { name, cadence }: StandingTask,
      at: number,
      more: object = {},
    ): Promise<HeartbeatState> {
      const after = (before: HeartbeatState): HeartbeatState => {
        const kept = { ...before.tasks.get(name)?.more, ...more };
        const run = { lastRun: at, cadenceMin: cadenceMinutes(cadence), more: kept };
        const { tasks, more: others } = withTask(before, name, run);
        return { tasks, more: { ...others, [NOTED]: new Date(at).toISOString() } };
      };
      let next = after(state);
      const written = await view.change(STATE_FILE, (text) => {
        // What a person has written since the state was read stays.
        const { state: today } = readHeartbeatState(text ?? '');
        next = after(withLostRuns(today, state.tasks));
        return heartbeatStateText(next);
      });
      if (written.kind === 'refused') {
        log.warn({ reason: written.detail }, `${STATE_FILE} could not be written`);
      }
      return next;
    },
  };
}
