/** Something in HEARTBEAT.md that was not understood. The other tasks run all the same. */
export interface TaskProblem {
  /** From 1. */
  readonly line: number;
  /** The task it is about; absent for what stands outside of all. */
  readonly task?: string;
  /** As it is written there, cut. */
  readonly found: string;
  readonly expected: string;
  /** What was most likely meant. */
  readonly nearest?: string;
  /** `task`: that task does not run. `note`: it runs, but perhaps not as it was meant. */
  readonly effect: 'task' | 'note';
}

/** One problem as a person reads it: where, what was found, what is expected. */
export function describeTaskProblem(problem: TaskProblem): string {
  const { line, task, found, expected, nearest, effect } = problem;
  const place = `HEARTBEAT.md, line ${line}${task === undefined ? '' : `, task ${task}`}`;
  const meant = nearest === undefined ? '' : ` Did you mean "${nearest}"?`;
  const then = effect === 'task' ? ' This task does not run until it is mended.' : '';
  return `${place}: found ${found === '' ? 'nothing' : `"${found}"`}, expected ${expected}.${meant}${then}`;
}

const LONGEST = 80;

/** As much of a line as a message has room for. */
export function quoted(text: string): string {
  const letters = [...text.trim()];
  return letters.length <= LONGEST
    ? letters.join('')
    : `${letters.slice(0, LONGEST - 1).join('')}…`;
}
