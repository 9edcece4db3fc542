import { existsSync } from 'node:fs';
import { relative } from 'node:path';
import { styleText } from 'node:util';
import type { Reporter, SerializedError, TestModule, Vitest } from 'vitest/node';
import { listNeeds } from './needs.ts';
import type { MissingService } from './provided.ts';
import { type RunFacts, type SkippedFile, summarizeRun } from './run-summary.ts';

/**
 * Ends a run with what did not run and how to install it, then the counts alone on the last line,
 * where CI looks for them. Register it after the reporter that shows the tests.
 */
export class MissingServicesReporter implements Reporter {
  #vitest: Vitest | undefined;

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const vitest = this.#vitest;
    if (vitest === undefined) return;
    const summary = summarizeRun(collectFacts(vitest, modules, unhandled));
    if (summary.fails) process.exitCode = 1;
    const print = () => {
      const frame = '═'.repeat(80);
      const warning = summary.warning.length > 0 ? [frame, ...summary.warning, frame] : [];
      for (const line of warning) console.log(styleText(['bold', 'yellow'], line));
      console.log(summary.counts);
    };
    // Stopping the services may still print something; the counts must be the very last line.
    if (vitest.config.watch) print();
    else process.once('exit', print);
  }
}

function collectFacts(
  vitest: Vitest,
  modules: readonly TestModule[],
  unhandled: readonly SerializedError[],
): RunFacts {
  const missing = vitest.getProvidedContext().missingServices ?? [];
  const count = (state: 'passed' | 'failed') =>
    modules.reduce((sum, module) => sum + [...module.children.allTests(state)].length, 0);
  const skipped = modules.flatMap((module) => findSkipped(module, missing, vitest.config.root));
  return {
    passed: count('passed'),
    failed:
      count('failed') +
      modules.reduce((sum, module) => sum + countBreaks(module), 0) +
      unhandled.length,
    skipped,
    missing,
    chosenByName: vitest.getGlobalTestNamePattern() !== undefined,
    ci: ['true', '1'].includes(process.env.CI ?? ''),
    installer: findInstaller(),
  };
}

/** Errors outside any test, such as a file that cannot be imported or a hook that throws. */
function countBreaks(module: TestModule): number {
  const suites = [...module.children.allSuites()];
  return module.errors().length + suites.reduce((sum, suite) => sum + suite.errors().length, 0);
}

function findSkipped(
  module: TestModule,
  missing: readonly MissingService[],
  root: string,
): SkippedFile[] {
  const tests = [...module.children.allTests('skipped')].length;
  if (tests === 0) return [];
  const file = relative(root, module.moduleId);
  const needs = listNeeds(module.moduleId);
  const services = missing.map(({ service }) => service).filter((name) => needs.includes(name));
  return [{ file, tests, services }];
}

function findInstaller(): RunFacts['installer'] {
  const isRoot = process.getuid?.() === 0;
  if (process.platform === 'darwin') return { packages: 'homebrew', command: 'brew install' };
  return existsSync('/etc/alpine-release')
    ? { packages: 'alpine', command: isRoot ? 'apk add' : 'doas apk add' }
    : { packages: 'debian', command: `${isRoot ? '' : 'sudo '}apt-get install -y` };
}
