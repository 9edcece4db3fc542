import type { Clock } from './time.ts';

/** An invalid result or an exception of third-party code: the function and the reason. */
export interface Defect {
  /** The function, for example `send` or `tool weather`. */
  readonly what: string;
  readonly reason: string;
  /** When it last happened, in ms. */
  readonly at: number;
}

/** Summarizes the contract violations of one adapter or plugin. */
export interface DefectSummary {
  readonly count: number;
  readonly last: Defect;
}

/** After this many consecutive invalid results, the function is no longer called. */
const MAX_IN_A_ROW = 3;
/**
 * The maximum number of function names: they are fixed when Parley and its plugins are set up, so
 * more would be a leak.
 */
const MAX_NAMES = 1_000;
const REASON_CHARACTERS = 300;

interface DefectOptions {
  readonly clock: Clock;
  readonly onDefect: (defect: Defect) => void;
}

/**
 * Counts contract violations of an adapter or plugin. A valid result of a function resets the count
 * of consecutive violations of that function.
 */
export class Defects {
  readonly #options: DefectOptions;
  readonly #inARow = new Map<string, number>();
  #count = 0;
  #last: Defect | undefined;

  constructor(options: DefectOptions) {
    this.#options = options;
  }

  note(what: string, reason: string): void {
    const defect = {
      what,
      reason: reason.slice(0, REASON_CHARACTERS).toWellFormed(),
      at: this.#options.clock(),
    };
    this.#count += 1;
    this.#last = defect;
    if (this.#inARow.has(what) || this.#inARow.size < MAX_NAMES)
      this.#inARow.set(what, (this.#inARow.get(what) ?? 0) + 1);
    this.#options.onDefect(defect);
  }

  pass(what: string): void {
    this.#inARow.delete(what);
  }

  /** Whether the function may no longer be called. */
  isOff(what: string): boolean {
    return (this.#inARow.get(what) ?? 0) >= MAX_IN_A_ROW;
  }

  /** Undefined if there were no violations. */
  summary(): DefectSummary | undefined {
    return this.#last && { count: this.#count, last: this.#last };
  }
}

/** Formats one line for people, such as `2 defects, the last in send: it returned no receipt`. */
export function describeDefects({ count, last }: DefectSummary): string {
  const what = count === 1 ? '1 defect, in' : `${count} defects, the last in`;
  return `${what} ${last.what}: ${last.reason}`;
}
