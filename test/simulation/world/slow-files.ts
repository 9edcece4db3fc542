/** Files that do not respond for a while, like files on a network share. */
export class SlowFileSystem {
  readonly #next = new Map<string, number>();

  /** Delays the next operation on a file whose path ends with this text, in ms. */
  delayNext(ending: string, ms: number): void {
    this.#next.set(ending, ms);
  }

  /** How long an operation that starts now takes, in ms. */
  readonly msOf = (path: string): number => {
    for (const [ending, ms] of this.#next) {
      if (!path.endsWith(ending)) continue;
      this.#next.delete(ending);
      return ms;
    }
    return 0;
  };
}
