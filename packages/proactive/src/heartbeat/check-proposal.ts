import { isParleyFormat, parseHeartbeatTasks } from './read-tasks.ts';
import { describeSchedule, describeTaskProblem } from './task.ts';
import { parseTimes } from './times.ts';

/** The maximum share of missing words, because times and rules may be reworded. */
const LOST_SHARE = 0.3;

/**
 * Checks a proposed HEARTBEAT.md against the current one (H11). `refusal` is the reason to reject
 * the proposal.
 */
export function checkProposal(before: string, after: string) {
  const { tasks, problems } = parseHeartbeatTasks(after);
  const { words, lost } = findLostWords(before, after);
  const stopped = problems.find(({ effect }) => effect === 'task');
  const refusal = !isParleyFormat(after)
    ? 'it is not in Parley’s form'
    : tasks.length === 0
      ? 'it does not contain a task'
      : stopped !== undefined
        ? describeTaskProblem(stopped)
        : lost.length > words * LOST_SHARE
          ? `${lost.length} of ${words} words in the tasks are missing`
          : null;
  const shown = tasks.map((task) => ({ name: task.name, schedule: describeSchedule(task) }));
  return { tasks: shown, problems: problems.map(describeTaskProblem), lost, refusal };
}

/**
 * Returns words from one file's tasks and rules that are missing in the other file; times may be
 * written differently.
 */
function findLostWords(before: string, after: string) {
  const { tasks, context = '' } = parseHeartbeatTasks(before);
  const texts = [...tasks.map(({ instruction }) => instruction), context];
  const untimed = texts
    .flatMap((text) => text.split('\n'))
    .map((line) => parseTimes(line)?.rest ?? line);
  const kept = new Set(listComparableWords(after));
  const words = new Set(listComparableWords(untimed.join('\n')));
  return { words: words.size, lost: [...words].filter((word) => !kept.has(word)) };
}

/** Chinese is written without spaces, so each pair of characters counts as a word. */
function listComparableWords(text: string): readonly string[] {
  const latin = text.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? [];
  return latin.flatMap((word) => {
    if (!/\p{Script=Han}/u.test(word)) return [word];
    return Array.from({ length: word.length - 1 }, (_, at) => word.slice(at, at + 2));
  });
}
