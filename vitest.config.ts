import { defineConfig } from 'vitest/config';
import { MissingServicesReporter } from './test/services/missing-services-reporter.ts';

export default defineConfig({
  test: {
    globalSetup: ['./test/services/global-setup.ts'],
    reporters: ['default', new MissingServicesReporter()],
    // Generous, because a busy two-core machine is slow and a test asserts no speed.
    testTimeout: 20_000,
    hookTimeout: 30_000,
    teardownTimeout: 10_000,
    // The default leaves one core free, which halves a two-core machine.
    maxWorkers: '100%',
    projects: [
      {
        extends: true,
        test: {
          name: 'packages',
          include: ['packages/**/src/**/*.test.ts'],
          // Libraries have no process state, so a thread is separation enough and starts faster.
          pool: 'threads',
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: 'processes',
          include: ['apps/**/src/**/*.test.ts', 'test/**/*.test.ts'],
          // These change signals, environment and working folder, which threads share.
          pool: 'forks',
          testTimeout: 60_000,
          hookTimeout: 60_000,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
