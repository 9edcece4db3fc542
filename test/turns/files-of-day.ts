import { isFullRun } from '@parley/core/testing';
import { TURNS } from './turns.ts';

const DAY_MS = 86_400_000;
/** Vitest options that select tests, besides file names. */
const CHOOSES = /^(?:-t|--(?:testNamePattern|changed|dir|project|shard|tagsFilter))(?:=|$)/;

/**
 * The test files that are skipped today: of those that take turns, all but today's group. None in a
 * full run. Each group runs on one of three days, and on a different day in the next round:
 * otherwise a case that is due every third day (`isDueToday`) would never meet the day of its file.
 */
export function listSkippedFiles(now = Date.now()): readonly string[] {
  if (isFullRun()) return [];
  const day = Math.floor(now / DAY_MS);
  const round = Math.floor(day / TURNS.length);
  const due = (day + round) % TURNS.length;
  return TURNS.flatMap((files, nth) => (nth === due ? [] : files));
}

/**
 * Vitest's commands that run or list all tests if nothing is named; Vitest also starts without a
 * command.
 */
const COMMANDS: ReadonlySet<string> = new Set(['run', 'watch', 'dev', 'list', 'bench']);

/**
 * Whether a command line asks for all tests. A named file, folder or title always runs.
 * @param args the arguments of the program, such as `['run', '--maxWorkers=2']`.
 */
export function requestsAllTests(args: readonly string[]): boolean {
  const [command = ''] = args;
  const options = COMMANDS.has(command) ? args.slice(1) : args;
  return options.every((arg) => arg.startsWith('-') && !CHOOSES.test(arg));
}
