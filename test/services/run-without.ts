// `npm run test:without`: the tests that need a program must be skipped without it, and nothing
// else may change. Runs the files that need a program again with the program switched off (a third
// of the files in a normal run); exits with 1 when a test fails twice.
import { spawn } from 'node:child_process';
import { hash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { isDueToday } from '@parley/core/testing';
import { z } from 'zod';
import { listRepositoryFiles } from '../repository-files.ts';
import { listSkippedFiles } from '../turns/files-of-day.ts';
import { groupPrograms } from './group-programs.ts';
import { listNeeds } from './needs.ts';
import { PROGRAMS, type ServiceName } from './programs.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const IS_TEST = /^(?:(?:packages|apps)\/.*\/src|test)\/.*\.test\.ts$/;
/**
 * Only a few, because each worker loads the sources separately, and most of these files have little
 * left to run.
 */
const WORKERS = 2;
/**
 * Up to this many files may have failed because the machine is busy: they run again, on their own.
 */
const FEW = 3;
/** In a normal run, the number of days until every file has run. */
const DAYS = 3;
/** The parts of Vitest's report that are used. */
const RESULTS = z.object({
  testResults: z.array(z.object({ name: z.string(), status: z.string() })),
});
/**
 * A running server would be used although its program is switched off. A missing program is not a
 * failure here.
 */
const { PARLEY_TEST_REDIS_URL: _r, PARLEY_TEST_POSTGRES_URL: _p, CI: _ci, ...env } = process.env;

const waiting = new Set(listSkippedFiles());
const folder = mkdtempSync(join(tmpdir(), 'parley-without-'));

/**
 * Whether a file is in this run: a full run includes all files, a normal run a daily share of the
 * files that are due. A file that starts a program without naming it fails in every run anyway, see
 * `disableUndeclared`.
 */
function isDue(file: string): boolean {
  return !waiting.has(file) && isDueToday(hash('sha256', file, 'buffer').readUInt32BE(), DAYS);
}

function formatTitles(services: readonly ServiceName[]): string {
  return services.map((service) => PROGRAMS[service].title).join(', ');
}

/**
 * Runs test files without some programs; returns those that failed. Prints their output when all
 * have finished.
 */
async function runWithout(services: readonly ServiceName[], files: readonly string[]) {
  const off = Object.fromEntries(services.map((service) => [PROGRAMS[service].variable, 'none']));
  const results = join(folder, `${services.join('-')}.json`);
  const reporters = ['--reporter=dot', '--reporter=json', `--outputFile.json=${results}`];
  const run = spawn('npx', ['vitest', 'run', ...reporters, `--maxWorkers=${WORKERS}`, ...files], {
    cwd: ROOT,
    env: { ...env, ...off },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [run.stdout, run.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const [status] = await once(run, 'close');
  process.stdout.write(`\nWithout ${formatTitles(services)}: ${files.length} files\n${output}`);
  if (status === 0) return [];
  const { testResults } = RESULTS.parse(JSON.parse(readFileSync(results, 'utf8')));
  const failed = testResults.filter((file) => file.status === 'failed');
  // An error outside all tests fails the run as well, and then the file at fault is unknown.
  return failed.length === 0 ? [...files] : failed.map(({ name }) => relative(ROOT, name));
}

const files = listRepositoryFiles().filter((file) => IS_TEST.test(file) && isDue(file));
const needs = new Map(files.map((file) => [file, listNeeds(join(ROOT, file))]));
const failed: string[] = [];
const unsteady: string[] = [];
// All groups in parallel: there are two or three, and each spends most of its time loading and
// waiting.
const groups = groupPrograms(needs);
const failedAtFirst = await Promise.all(
  groups.map(({ services, files }) => runWithout(services, files)),
);
for (const [index, { services }] of groups.entries()) {
  const first = failedAtFirst[index] ?? [];
  if (first.length === 0) continue;
  const again = first.length <= FEW ? await runWithout(services, first) : first;
  unsteady.push(...first.filter((file) => !again.includes(file)));
  if (again.length > 0) failed.push(`FAILED without ${formatTitles(services)}: ${again.join(' ')}`);
}
rmSync(folder, { recursive: true });
for (const file of unsteady) process.stdout.write(`Flaky, passed on its own: ${file}\n`);
for (const line of failed) process.stdout.write(`${line}\n`);
process.exitCode = failed.length === 0 ? 0 : 1;
