/** Tells those who watch that something is different. */
export class Changes {
  readonly #listeners = new Set<() => void>();
  readonly #summary: () => string;

  /** @param summary says what there is to see, for someone who waited in vain. */
  constructor(summary: () => string) {
    this.#summary = summary;
  }

  /** Calls `listener` at each change. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  changed(): void {
    for (const listener of this.#listeners) listener();
  }

  /**
   * Resolves with the first answer of `look` that is neither undefined nor false; asks again at each change.
   * @throws Error after `timeoutMs`, with what there is to see.
   */
  waitFor<T>(look: () => T | undefined | false, timeoutMs: number): Promise<T> {
    return new Promise((resolve, reject) => {
      const check = () => {
        const seen = look();
        if (seen === undefined || seen === false) return;
        finish();
        resolve(seen);
      };
      const timer = setTimeout(() => {
        finish();
        reject(new Error(`Nothing within ${timeoutMs} ms. ${this.#summary()}`));
      }, timeoutMs);
      const finish = () => {
        clearTimeout(timer);
        this.#listeners.delete(check);
      };
      this.#listeners.add(check);
      check();
    });
  }
}
