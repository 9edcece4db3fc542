import type { Logger } from '@parley/core';
import type { WorkspaceView } from '@parley/workspace';
import {
  addMissingRuns,
  formatHeartbeatState,
  type HeartbeatState,
  importChecks,
  NOTED,
  readHeartbeatState,
  updateTask,
} from './state.ts';
import { getCadenceMinutes, OPENCLAW_STATE_FILE, STATE_FILE, type StandingTask } from './task.ts';

/** The maximum length of the state file, in characters, which is more than a hundred tasks need. */
const WHOLE_FILE = 1_000_000;

/** Reads heartbeat-state.json or, if it does not exist, the file used by OpenClaw's agents. */
export async function readStateFile(files: Pick<WorkspaceView, 'read'>): Promise<string> {
  const own = await files.read(STATE_FILE, WHOLE_FILE);
  const file = own.kind === 'file' ? own : await files.read(OPENCLAW_STATE_FILE, WHOLE_FILE);
  return file.kind === 'file' ? file.text : '';
}

/** Opens the state file in a workspace, through the owner's view. */
export function openStateFile(view: WorkspaceView, log: Logger) {
  let lastRepairs = '';
  return {
    /**
     * Reads the state and adds runs that only the database has; later changes by a person are kept.
     */
    async read(
      started: ReadonlyMap<string, number>,
      tasks: readonly StandingTask[],
    ): Promise<HeartbeatState> {
      const { state, repairs } = readHeartbeatState(await readStateFile(view));
      const said = repairs.join(' ');
      if (said !== '' && said !== lastRepairs) log.warn({ repairs }, `${STATE_FILE} was repaired`);
      lastRepairs = said;
      const runs = [...started].map(([name, lastRun]) => [name, { lastRun }] as const);
      return importChecks(addMissingRuns(state, runs), tasks);
    },
    /**
     * Records that a task started. A failed write is only logged, because the database also
     * contains the run.
     */
    async started(
      state: HeartbeatState,
      { name, cadence }: StandingTask,
      at: number,
      more: object = {},
    ): Promise<HeartbeatState> {
      const after = (before: HeartbeatState): HeartbeatState => {
        const kept = { ...before.tasks.get(name)?.more, ...more };
        const run = { lastRun: at, cadenceMin: getCadenceMinutes(cadence), more: kept };
        const { tasks, more: others } = updateTask(before, name, run);
        return { tasks, more: { ...others, [NOTED]: new Date(at).toISOString() } };
      };
      let next = after(state);
      const written = await view.change(STATE_FILE, (text) => {
        // Reads the file again, so that changes that a person has made in the meantime are kept.
        const { state: today } = readHeartbeatState(text ?? '');
        next = after(addMissingRuns(today, state.tasks));
        return formatHeartbeatState(next);
      });
      if (written.kind === 'refused') {
        log.warn({ reason: written.detail }, `${STATE_FILE} could not be written`);
      }
      return next;
    },
  };
}
