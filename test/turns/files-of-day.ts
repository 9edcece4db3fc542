import { isWholeRun } from '@parley/core/testing';
import { TURNS } from './turns.ts';

const DAY_MS = 86_400_000;
/** Options of Vitest that choose tests, beside the names of files. */
const CHOOSES = /^(?:-t|--(?:testNamePattern|changed|dir|project|shard|tagsFilter))(?:=|$)/;

/**
 * The test files that wait for another day: of those that take turns, all but the group of today. None in a whole run.
 * Each group has one day of three, the next time another one of them: a case that is due every third day
 * (`isOfDay`) would otherwise never meet the day of its file.
 */
export function filesOfOtherDays(now = Date.now()): readonly string[] {
  if (isWholeRun()) return [];
  const day = Math.floor(now / DAY_MS);
  const round = Math.floor(day / TURNS.length);
  const due = (day + round) % TURNS.length;
  return TURNS.flatMap((files, nth) => (nth === due ? [] : files));
}

/**
 * Whether a command line asks for all tests. Whoever names a file, a folder or a title gets what was named, whatever
 * day it is.
 * @param args what stands behind the command of Vitest: `['--maxWorkers=2']`.
 */
export function asksForAll(args: readonly string[]): boolean {
  return args.every((arg) => arg.startsWith('-') && !CHOOSES.test(arg));
}
