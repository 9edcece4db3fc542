import { afterAll, expect } from 'vitest';
import { switchOffUnasked, takeRefused } from './services/listed-programs.ts';
import './fixed-seed.ts';
import '../apps/console/src/testing/page-modules.ts';

// Runs before each test file. Files share a process: the modules that this one imports are evaluated once for all of
// them, and are for what holds as long as the process does.

const { testPath } = expect.getState();
if (testPath === undefined) throw new Error('The file of these tests is not known.');
switchOffUnasked(testPath);

const umask = process.umask();
afterAll(() => {
  // A mask that a file leaves behind would change the rights of the files that the next one makes.
  process.umask(umask);
  const [first] = takeRefused();
  if (first !== undefined) throw new Error(first);
});
