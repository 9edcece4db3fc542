import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { z } from 'zod';

const ROOT = resolve(import.meta.dirname, '../..');
const bash = inject('bashPath');

/**
 * The programs that `.ci/run` looks for, and the program with which it would install missing
 * programs.
 */
const PROGRAMS = [
  ...['redis-server', 'pgbouncer', 'chromium-headless-shell', 'bwrap', 'promtool', 'git'],
  ...['systemd-analyze', 'apt-get'],
];
const Scripts = z.object({ scripts: z.object({ check: z.string(), types: z.string() }) });
/** Scripts for npm and npx; sections that a case does not name succeed silently. */
interface Sections {
  readonly [command: string]: string;
}

/** Runs `.ci/run` with npm and npx scripted by the case, in shell code. */
function ciRun(sections: Sections) {
  const folder = mkdtempSync(join(tmpdir(), 'parley-ci-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const bin = join(folder, 'bin');
  for (const path of [bin, join(folder, '.ci')]) mkdirSync(path);
  copyFileSync(join(ROOT, '.ci/run'), join(folder, '.ci/run'));
  const program = (name: string, text: string): void =>
    writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  for (const name of PROGRAMS) program(name, 'exit 0');
  program('sudo', 'shift; exec "$@"');
  const cases = Object.entries(sections).map(([command, text]) => `"${command}") ${text} ;;`);
  for (const name of ['npm', 'npx']) {
    program(
      name,
      `echo "${name} $*" >>called; case "${name} $*" in\n${cases.join('\n')}\n*) exit 0 ;;\nesac`,
    );
  }
  const { status, stdout, stderr } = spawnSync(bash ?? '', [join(folder, '.ci/run')], {
    encoding: 'utf8',
    env: { PATH: `${bin}:/usr/local/bin:/usr/bin:/bin`, TMPDIR: folder },
  });
  return {
    status,
    out: stdout,
    err: stderr,
    last: stdout.trimEnd().split('\n').slice(-2),
    called: readFileSync(join(folder, 'called'), 'utf8').trimEnd().split('\n'),
    made: readdirSync(folder),
  };
}

/** Shell code for a test run in which these files failed. */
function failedIn(...files: string[]): string {
  const lines = files.map((file) => ` FAIL  ${file} > a test`);
  return `printf '%s\\n' '${[...lines, 'tests: 7 passed, 2 failed'].join("' '")}'; exit 1`;
}

const INSTALL = 'npm ci --no-audit --no-fund';
const PASSED = { 'npm test': "echo 'tests: 9 passed, 0 failed'" };

describe.runIf(bash)('.ci/run', () => {
  it('[U09] prints the time of each section, the unsteady files, and the number of tests', () => {
    const { status, out, err, last } = ciRun(PASSED);
    expect({ status, err, last }).toEqual({
      status: 0,
      err: '',
      last: ['unsteady: 0 files', 'tests: 9 passed, 0 failed'],
    });
    const rows = [...out.matchAll(/^ +\d+ +\d+ +\d+\.\d {2}(.*)$/gm)].map(([, name]) => name);
    expect(rows.toSorted()).toEqual(
      [
        ...['boundaries', 'lint', 'lockfile fits every package.json', 'npm ci', 'npm test'],
        ...['programs for the tests', 'test:without', 'types', 'types of the page', 'unused'],
      ].toSorted(),
    );
  });

  it('[U09] treats two files that fail in the full run and pass alone, three times, as unsteady', () => {
    const files = ['a.test.ts', 'test/b.test.ts'];
    const again = 'npx vitest run a.test.ts test/b.test.ts';
    const { status, out, last } = ciRun({
      'npm test': failedIn(...files),
      [again]: "echo 'both passed'",
    });
    expect(out.match(/^both passed$/gm)).toHaveLength(3);
    expect({ status, last }).toEqual({
      status: 0,
      last: [
        'unsteady: 2 files: a.test.ts test/b.test.ts',
        'tests: 9 passed, 0 failed; unsteady, passed alone: a.test.ts test/b.test.ts',
      ],
    });
  });

  it.each<[string, Sections]>([
    [
      'a file that fails one of three runs on its own',
      {
        'npm test': failedIn('a.test.ts'),
        'npx vitest run a.test.ts': 'mkdir failed-once 2>/dev/null && exit 1; exit 0',
      },
    ],
    [
      'four files that fail',
      { 'npm test': failedIn('a.test.ts', 'b.test.ts', 'c.test.ts', 'd.test.ts') },
    ],
    ['an uncaught error', { 'npm test': `echo 'Unhandled Rejection'; ${failedIn('a.test.ts')}` }],
  ])('[U09] fails for %s, and does not report any file as unsteady', (_what, sections) => {
    const { status, out, last } = ciRun(sections);
    expect({ status, last }).toEqual({
      status: 1,
      last: ['unsteady: 0 files', 'tests: 7 passed, 2 failed'],
    });
    expect(out).toContain('FAILED (exit 1)');
    expect(out.split('FAILED')[1]).toContain(' FAIL  a.test.ts > a test');
  });

  it.each([
    ['boundaries', 'npm run boundaries'],
    ['the lockfile', 'npm ci --dry-run'],
    ['unused code', 'npm run unused'],
    ['lint', 'npm run lint'],
    ['types', 'npx tsc -p tsconfig.json --checkers 1'],
    ['types of the page', 'npx tsc -p apps/console/tsconfig.json --checkers 1'],
  ])('[U09] ends the tests and fails when %s fails, and shows the reason', (_what, command) => {
    const { status, out, made } = ciRun({
      'npm test': "trap 'touch ended; exit 1' TERM; touch started; sleep 60 & wait",
      [command]: "while [ ! -e started ]; do sleep 0.05; done; echo 'the reason'; exit 1",
    });
    expect({ status, made }).toEqual({ status: 1, made: expect.arrayContaining(['ended']) });
    expect(out).toContain('the reason');
    expect(out).toContain('FAILED (exit 1)');
  });

  it('[U09] fails when a test fails without its program, and shows the reason', () => {
    const { status, out, called } = ciRun({
      ...PASSED,
      'npm run test:without': "echo 'the reason'; exit 1",
    });
    expect(status).toBe(1);
    expect(called.at(-1)).toBe('npm run test:without');
    expect(out).toContain('the reason');
    expect(out).toContain('FAILED (exit 1)');
  });

  it('[U09] does not run tests when the installation fails', () => {
    const { status, called } = ciRun({ ...PASSED, [INSTALL]: 'exit 1' });
    expect({ status, called }).toEqual({ status: 1, called: [INSTALL] });
  });

  it('[U09] runs each part of "npm run check"', () => {
    const { called } = ciRun(PASSED);
    const { scripts } = Scripts.parse(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')));
    const partsOf = (name: 'check' | 'types') => scripts[name].split(' && ');
    const types = partsOf('types').map((command) => `npx ${command} --checkers 1`);
    const wanted = partsOf('check').flatMap((part) => (part === 'npm run types' ? types : [part]));
    expect(wanted).toHaveLength(5);
    expect(called).toEqual(expect.arrayContaining(wanted));
  });
});
