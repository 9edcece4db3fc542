import { defineConfig } from 'vitest/config';
import { MissingServicesReporter } from './test/services/missing-services-reporter.ts';

// Files share a process per worker: nothing lives at module level, and loading the modules once more for
// each file took much of the time.
export default defineConfig({
  test: {
    globalSetup: ['./test/services/global-setup.ts'],
    reporters: ['default', new MissingServicesReporter()],
    // The default leaves one core free, which halves a two-core machine.
    maxWorkers: '100%',
    isolate: false,
    // Generous, because a busy machine is slow and no test asserts speed.
    testTimeout: 20_000,
    hookTimeout: 30_000,
    expect: { poll: { timeout: 15_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: 'packages',
          include: ['packages/**/src/**/*.test.ts'],
          sequence: { groupOrder: 1 },
        },
      },
      {
        // After the packages, so that a broken part is reported before the whole that it breaks.
        extends: true,
        test: {
          name: 'whole',
          include: ['apps/**/src/**/*.test.ts', 'test/**/*.test.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          // They wait for processes, pages and servers most of the time: two would leave the cores idle.
          maxWorkers: 3,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
