/** A text and how well it fits. */
export interface Ranked {
  readonly document: number;
  readonly score: number;
}

/** Keeps the best of many without sorting all of them. Where two fit alike the newer one comes first. */
export class BestFew {
  readonly #most: number;
  readonly #kept: Ranked[] = [];

  /** @param most how many are kept; a few dozen at most. */
  constructor(most: number) {
    this.#most = most;
  }

  add(document: number, score: number): void {
    const last = this.#kept.at(-1);
    const isFull = this.#kept.length >= this.#most;
    if (isFull && (last === undefined || !isBefore(document, score, last))) return;
    let at = this.#kept.length;
    for (let before = this.#kept[at - 1]; before !== undefined; before = this.#kept[at - 1]) {
      if (!isBefore(document, score, before)) break;
      at -= 1;
    }
    this.#kept.splice(at, 0, { document, score });
    if (isFull) this.#kept.pop();
  }

  /** Best first. */
  all(): readonly Ranked[] {
    return this.#kept;
  }
}

function isBefore(document: number, score: number, other: Ranked): boolean {
  return score > other.score || (score === other.score && document > other.document);
}
