import { afterAll, expect } from 'vitest';
import { disableUndeclared, takeRefusedStarts } from './services/listed-programs.ts';
import './fixed-seed.ts';
import '../apps/console/src/testing/page-modules.ts';

// Runs before each test file. Files share a process: the modules imported here are evaluated once
// for all of them, and must only set up what holds for the whole process.

const { testPath } = expect.getState();
if (testPath === undefined) throw new Error('The file of these tests is unknown.');
disableUndeclared(testPath);

const umask = process.umask();
afterAll(() => {
  // A umask left behind by one file would change the permissions of files created by the next.
  process.umask(umask);
  const [first] = takeRefusedStarts();
  if (first !== undefined) throw new Error(first);
});
