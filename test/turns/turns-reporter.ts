import type { Reporter } from 'vitest/node';

/**
 * Reports at the end of a run how many files were skipped until another day, so that it is not
 * mistaken for a full run.
 */
export class TurnsReporter implements Reporter {
  readonly #waiting: number;

  constructor(waiting: number) {
    this.#waiting = waiting;
  }

  onTestRunEnd(): void {
    if (this.#waiting === 0) return;
    console.log(
      `${this.#waiting} files wait for another day. PARLEY_TEST_WHOLE=1 runs all of them.`,
    );
  }
}
