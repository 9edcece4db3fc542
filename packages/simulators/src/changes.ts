export class ChangeNotifier {
  readonly #listeners = new Set<() => void>();
  readonly #summary: () => string;

  /** @param summary describes the current state for the error message of a wait that timed out */
  constructor(summary: () => string) {
    this.#summary = summary;
  }

  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  changed(): void {
    for (const listener of this.#listeners) listener();
  }

  /**
   * Calls `look` on every change and resolves with its first result that is neither undefined nor
   * false.
   * @throws Error with the summary after `timeoutMs`
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
        reject(new Error(`Timed out after ${timeoutMs} ms. ${this.#summary()}`));
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
