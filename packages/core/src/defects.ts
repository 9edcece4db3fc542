import type { Clock } from './time.ts';

/** One wrong thing that code of others returned or threw: which of its functions, and why it is wrong. */
export interface Defect {
  /** `send`, `tool weather`. */
  readonly what: string;
  readonly reason: string;
  /** In ms. */
  readonly at: number;
}

/** The summary of a part that does not keep its contract. */
export interface DefectSummary {
  readonly count: number;
  readonly last: Defect;
}

/** So many wrong results in a row, and the part is not asked any more. */
const MAX_IN_A_ROW = 3;
/** Names are fixed by Parley and by plugins at their setup; more than this is a leak. */
const MAX_NAMES = 1_000;
const REASON_CHARACTERS = 300;

interface DefectOptions {
  readonly clock: Clock;
  readonly onDefect: (defect: Defect) => void;
}

/** Counts what an adapter or a plugin does wrong. A right result ends a row of wrong ones of the same function. */
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

  /** It has returned what it must. */
  pass(what: string): void {
    this.#inARow.delete(what);
  }

  /** It is not to be asked any more. */
  isOff(what: string): boolean {
    return (this.#inARow.get(what) ?? 0) >= MAX_IN_A_ROW;
  }

  /** Undefined: there were none. */
  summary(): DefectSummary | undefined {
    return this.#last && { count: this.#count, last: this.#last };
  }
}

/** One line for people: `2 defects, the last in send: it returned no receipt`. */
export function defectsText({ count, last }: DefectSummary): string {
  const what = count === 1 ? '1 defect, in' : `${count} defects, the last in`;
  return `${what} ${last.what}: ${last.reason}`;
}
