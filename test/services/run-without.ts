// `npm run test:without`: the tests that need a program must be skipped without it, and nothing else may change. Runs
// the files that ask for a program once more with it switched off; exits with 1 when a test fails.
import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { repositoryFiles } from '../repository-files.ts';
import { groupPrograms } from './group-programs.ts';
import { needsOf } from './needs.ts';
import { PROGRAMS } from './programs.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const IS_TEST = /^(?:(?:packages|apps)\/.*\/src|test)\/.*\.test\.ts$/;
/** So few because each worker loads the sources for itself, and most of these files have little left to run. */
const WORKERS = 2;
/** A running server would be used although its program is switched off. A missing program is no failure here. */
const { PARLEY_TEST_REDIS_URL: _r, PARLEY_TEST_POSTGRES_URL: _p, CI: _ci, ...env } = process.env;

const files = repositoryFiles().filter((file) => IS_TEST.test(file));
const needs = new Map(files.map((file) => [file, needsOf(join(ROOT, file))]));
const failed: string[] = [];
for (const { services, files: affected } of groupPrograms(needs)) {
  const titles = services.map((service) => PROGRAMS[service].title).join(', ');
  process.stdout.write(`\nWithout ${titles}: ${affected.length} files\n`);
  const off = Object.fromEntries(services.map((service) => [PROGRAMS[service].variable, 'none']));
  const options = ['--reporter=dot', `--maxWorkers=${WORKERS}`];
  const { status } = spawnSync('npx', ['vitest', 'run', ...options, ...affected], {
    cwd: ROOT,
    env: { ...env, ...off },
    stdio: 'inherit',
  });
  if (status !== 0) failed.push(titles);
}
for (const titles of failed) process.stdout.write(`FAILED without ${titles}\n`);
process.exitCode = failed.length === 0 ? 0 : 1;
