import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { configDefaults, defineConfig } from 'vitest/config';
import { MissingServicesReporter } from './test/services/missing-services-reporter.ts';
import { SlowestFirstSequencer } from './test/slowest-first.ts';
import { listSkippedFiles, requestsAllTests } from './test/turns/files-of-day.ts';
import { TurnsReporter } from './test/turns/turns-reporter.ts';

const [, , ...args] = process.argv;
const waiting = requestsAllTests(args) ? listSkippedFiles() : [];

// Files share a process per worker: nothing lives at module level, and loading the modules once more for
// each file took much of the time.
export default defineConfig({
  test: {
    globalSetup: ['./test/services/global-setup.ts'],
    // All in one project: a worker never serves two, and would load every module anew for the second.
    include: ['{packages,apps}/**/src/**/*.test.ts', 'test/**/*.test.ts'],
    // Whoever names a file runs it on every day.
    exclude: [...configDefaults.exclude, ...waiting],
    setupFiles: ['./test/set-up-file.ts'],
    reporters: ['default', new TurnsReporter(waiting.length), new MissingServicesReporter()],
    // Two for each core of a small machine: some wait for processes, pages and servers, and each more loads all modules
    // once more (4.5 s of processor) and makes the others late.
    maxWorkers: 4,
    isolate: false,
    // Node imports the sources itself, as it does where Parley runs from them: that takes a sixth less processor time.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // Where a start of Parley caches its code: all processes that tests start use it, from their first line.
    env: { NODE_COMPILE_CACHE: join(tmpdir(), 'node-compile-cache') },
    sequence: { sequencer: SlowestFirstSequencer },
    // So generous because a busy machine is slow and no test asserts speed: what is waited for comes, or never.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 30_000 } },
  },
});
