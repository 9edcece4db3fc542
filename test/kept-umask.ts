import { afterAll } from 'vitest';

// Files share a process: a mask that one leaves behind would change the rights of the files that the next one makes.
const umask = process.umask();
afterAll(() => {
  process.umask(umask);
});
