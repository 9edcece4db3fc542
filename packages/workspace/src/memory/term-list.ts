/** New words that wait beside the sorted ones until they are merged. */
const MOST_FRESH = 300;

/** All words of an index in order, so that longer words are found by how they begin. */
export class TermList {
  #sorted: readonly string[] = [];
  #fresh: string[] = [];

  /** Adds a word that is not in it yet. */
  add(term: string): void {
    this.#fresh.push(term);
  }

  /** At most `most` words that begin with `start` and are longer. */
  longerThan(start: string, most: number): readonly string[] {
    if (this.#fresh.length > MOST_FRESH) this.#merge();
    const longer: string[] = [];
    for (let at = placeAfter(this.#sorted, start); longer.length < most; at += 1) {
      const term = this.#sorted[at];
      if (term?.startsWith(start) !== true) break;
      longer.push(term);
    }
    for (const term of this.#fresh) {
      if (longer.length >= most) break;
      if (term.length > start.length && term.startsWith(start)) longer.push(term);
    }
    return longer;
  }

  /** Both in order, so that one pass is enough. */
  #merge(): void {
    const fresh = this.#fresh.sort();
    const merged: string[] = [];
    let at = 0;
    for (const term of this.#sorted) {
      for (let next = fresh[at]; next !== undefined && next < term; next = fresh[at]) {
        merged.push(next);
        at += 1;
      }
      merged.push(term);
    }
    this.#sorted = [...merged, ...fresh.slice(at)];
    this.#fresh = [];
  }
}

function placeAfter(sorted: readonly string[], start: string): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? '') <= start) low = middle + 1;
    else high = middle;
  }
  return low;
}
