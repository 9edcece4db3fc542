import { describe, expect, it } from 'vitest';
import { listRepositoryFiles } from '../repository-files.ts';
import { listSkippedFiles, requestsAllTests } from './files-of-day.ts';
import { findIds, listPromises } from './promises.ts';
import { TURNS } from './turns.ts';

const DAY_MS = 86_400_000;
const DAYS = TURNS.map((_, day) => day);

const all = listRepositoryFiles().filter((path) => path.endsWith('.test.ts'));
const turning = TURNS.flat();
const promises = new Map(all.map((file) => [file, listPromises(file)]));

/** The promises without a test on a day, among those that any of the files proves. */
function missingOn(day: number, groups: readonly (readonly string[])[]): readonly string[] {
  const waiting = new Set(groups.flatMap((files, nth) => (nth === day ? [] : files)));
  const due = new Set<string>();
  const known = new Set<string>();
  for (const [file, ids] of promises) {
    for (const id of ids) {
      known.add(id);
      if (!waiting.has(file)) due.add(id);
    }
  }
  return [...known].filter((id) => !due.has(id)).sort();
}

/**
 * Promises whose tests are distributed unevenly over the groups, though there are enough for each.
 */
function unevenPromises(groups: readonly (readonly string[])[]): readonly string[] {
  const ids = new Set(groups.flat().flatMap((file) => [...(promises.get(file) ?? [])]));
  return [...ids].sort().flatMap((id) => {
    const counts = groups.map(
      (files) => files.filter((file) => promises.get(file)?.has(id)).length,
    );
    const sum = counts.reduce((total, count) => total + count, 0);
    return sum >= groups.length && counts.includes(0) ? [`${id}: ${counts.join(', ')}`] : [];
  });
}

describe('test files that take turns', () => {
  it.each(DAYS)('[U09] leave at least one test for every promise on day %i', (day) => {
    expect(missingOn(day, TURNS)).toEqual([]);
  });

  it('[U09] include a test every day for a promise that three of them prove', () => {
    expect(unevenPromises(TURNS)).toEqual([]);
  });

  it('[U09] are reported as missing if the only files that prove a promise wait together', () => {
    const provesD06 = all.filter((file) => promises.get(file)?.has('D06'));
    expect(missingOn(1, [provesD06, []])).toContain('D06');
    expect(unevenPromises([provesD06, []])).toContainEqual(expect.stringMatching(/^D06: \d+, 0$/));
  });

  it('[U09] exist, each in one group', () => {
    expect(turning.filter((file) => !all.includes(file))).toEqual([]);
    expect(new Set(turning).size).toBe(turning.length);
  });

  it('[U09] are each due once in as many days as there are groups, and always in a full run', () => {
    const isWhole = process.env.PARLEY_TEST_WHOLE === '1';
    for (let round = 0; round < 12; round += 1) {
      const waiting = DAYS.map((day) => listSkippedFiles((round * DAYS.length + day) * DAY_MS));
      for (const [file = ''] of TURNS) {
        const due = waiting.filter((files) => !files.includes(file));
        expect([file, due.length]).toEqual([file, isWhole ? DAYS.length : 1]);
      }
    }
  });

  it.each([2, 3, 4, 6])('[U09] meet each of %i cases that take turns in them', (days) => {
    for (const [file = ''] of TURNS) {
      const met = new Set<number>();
      for (let day = 0; day < 100; day += 1)
        if (!listSkippedFiles(day * DAY_MS).includes(file)) met.add(day % days);
      expect([file, met.size]).toEqual([file, days]);
    }
  });
});

describe("a test file's titles", () => {
  it('[U09] list what it proves each time, but not what depends on the day or a full run', () => {
    const text = `
      it('[A01] always', () => {});
      if (isOfDay(0, 2)) it('[A02] on some days', () => {});
      it.runIf(isWholeRun())('[A03] in whole runs', () => {});
      it.each(cases.filter((_, nth) => isOfDay(nth, 2)))('[A04] with one of several cases', () => {});
      it.runIf(redis)('[A05] where a server is', () => {});
    `;
    expect(findIds('example.test.ts', text)).toEqual(['A01', 'A04', 'A05']);
  });
});

describe('a command line', () => {
  it.each([
    [[], true],
    [['run'], true],
    [['run', '--maxWorkers=2', '--reporter=dot'], true],
    [['--run', '--maxWorkers=2'], true],
    [['run', 'test/e2e/cron.test.ts'], false],
    [['test/e2e/cron.test.ts'], false],
    [['--run', 'test/e2e/cron.test.ts'], false],
    [['related', 'packages/core/src/index.ts'], false],
    [['run', '--root', '../..', 'packages/store/'], false],
    [['run', '-t', 'never splits'], false],
    [['--testNamePattern=never splits'], false],
    [['run', '--changed'], false],
  ])('[U09] %j asks for all tests: %s', (args, isAll) => {
    expect(requestsAllTests(args)).toBe(isAll);
  });
});
