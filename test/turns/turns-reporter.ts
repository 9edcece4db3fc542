import type { Reporter } from 'vitest/node';

/** Says at the end of a run how many files wait for another day, so that nobody takes it for a whole one. */
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
