import { PROSE_TASK } from './cut-tasks.ts';
import { readTasks } from './read-tasks.ts';
import { readHeartbeatState, withChecks } from './state.ts';
import { describeSchedule, describeTaskProblem } from './task.ts';

/** What a HEARTBEAT.md and its state will be to Parley, before it is used (W01). */
export function foreseeTasks(text: string, stateText: string) {
  const { tasks, problems } = readTasks(text);
  const { state, repairs } = readHeartbeatState(stateText);
  const { tasks: ran } = withChecks(state, tasks);
  return {
    tasks: tasks.map((task) => ({
      name: task.name,
      schedule: describeSchedule(task),
      lastRun: ran.get(task.name)?.lastRun ?? null,
    })),
    /** All of the file is one task: it does not show where one ends. */
    isWhole: tasks.length === 1 && tasks[0]?.name === PROSE_TASK,
    problems: [...problems.map(describeTaskProblem), ...repairs],
  };
}
