import { defineConfig } from 'vitest/config';
import { MissingServicesReporter } from './test/services/missing-services-reporter.ts';

// Every test file gets a process of its own: threads were no faster here, and would share signals,
// environment and working folder.
export default defineConfig({
  test: {
    globalSetup: ['./test/services/global-setup.ts'],
    reporters: ['default', new MissingServicesReporter()],
    // The default leaves one core free, which halves a two-core machine.
    maxWorkers: '100%',
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
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
