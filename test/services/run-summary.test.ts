import { describe, expect, it } from 'vitest';
import { type RunFacts, summarizeRun } from './run-summary.ts';

const green: RunFacts = {
  passed: 12,
  failed: 0,
  skipped: [],
  missing: [],
  chosenByName: false,
  ci: false,
  installer: { packages: 'debian', command: 'sudo apt-get install -y' },
};

const withoutPostgres: RunFacts = {
  ...green,
  skipped: [{ file: 'packages/store/src/store.test.ts', tests: 3, services: ['postgres'] }],
  missing: [{ service: 'postgres', reason: 'found no initdb on the PATH', canInstall: true }],
};

describe('the end of a test run', () => {
  it('is one line of counts when everything ran', () => {
    expect(summarizeRun(green)).toEqual({
      warning: [],
      counts: 'tests: 12 passed, 0 failed',
      fails: false,
    });
  });

  it('names the files that did not run, the reason, and the one command that helps', () => {
    expect(summarizeRun(withoutPostgres)).toEqual({
      warning: [
        '3 tests DID NOT RUN: this machine lacks PostgreSQL.',
        '  packages/store/src/store.test.ts: 3 tests for PostgreSQL',
        '  PostgreSQL: found no initdb on the PATH',
        'Install what they need: sudo apt-get install -y postgresql',
      ],
      counts: 'tests: 12 passed, 0 failed, 3 skipped',
      fails: false,
    });
  });

  it('[U09] names each package once, except for programs that cannot be installed there or were switched off', () => {
    const lines = (packages: RunFacts['installer']['packages']) =>
      summarizeRun({
        ...withoutPostgres,
        missing: [
          ...withoutPostgres.missing,
          { service: 'prlimit', reason: 'found no prlimit on the PATH', canInstall: true },
          { service: 'setpriv', reason: 'found no setpriv on the PATH', canInstall: true },
          { service: 'git', reason: 'switched off by PARLEY_TEST_GIT=none', canInstall: false },
        ],
        installer: { packages, command: 'get' },
      }).warning.slice(-3);
    expect(lines('debian').at(-1)).toBe('Install what they need: get postgresql util-linux');
    expect(lines('homebrew')).toEqual([
      '  setpriv: found no setpriv on the PATH; this system has no package of it',
      '  git: switched off by PARLEY_TEST_GIT=none',
      'Install what they need: get postgresql@17',
    ]);
  });

  it('fails when CI is set, with the same message', () => {
    const ci = summarizeRun({ ...withoutPostgres, ci: true });
    expect(ci).toEqual({ ...summarizeRun(withoutPostgres), fails: true });
  });

  it('fails when CI is set and a service is missing, even if no test was skipped for it', () => {
    expect(summarizeRun({ ...withoutPostgres, skipped: [], ci: true }).fails).toBe(true);
    expect(summarizeRun({ ...withoutPostgres, skipped: [] }).warning).toEqual([]);
  });

  it('reports tests that are skipped for no reason', () => {
    const skipped = [{ file: 'a.test.ts', tests: 1, services: [] }];
    expect(summarizeRun({ ...green, skipped }).warning[0]).toMatch(/^1 test SKIPPED/);
    expect(summarizeRun({ ...green, skipped, ci: true }).fails).toBe(true);
  });

  it('does not mention tests that were filtered out by name', () => {
    expect(summarizeRun({ ...withoutPostgres, chosenByName: true, ci: true }).warning).toEqual([]);
  });
});
