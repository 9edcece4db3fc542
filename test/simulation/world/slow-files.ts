/** Files that do not answer for a while, as those on another machine do. */
export class SlowFiles {
  readonly #next = new Map<string, number>();

  /** The next operation on a file whose path ends like this takes so long, in ms. */
  delayNext(ending: string, ms: number): void {
    this.#next.set(ending, ms);
  }

  /** How long an operation takes that begins now, in ms. */
  readonly msOf = (path: string): number => {
    for (const [ending, ms] of this.#next) {
      if (!path.endsWith(ending)) continue;
      this.#next.delete(ending);
      return ms;
    }
    return 0;
  };
}
