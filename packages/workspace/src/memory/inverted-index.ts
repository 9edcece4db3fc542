import { indexTerms, type QueryWord } from './search-words.ts';

/** A found text: its number, its score, and how much of the question it has. */
export interface Scored {
  readonly document: number;
  readonly score: number;
  /** 0 to 1: the part of the question's telling words that the text has. */
  readonly coverage: number;
  /** Of the rarest word that was found; above 2 it is significant. */
  readonly rarity: number;
}

interface Posting {
  readonly documents: number[];
  readonly counts: number[];
}

/** BM25's usual numbers. */
const K1 = 1.2;
const B = 0.5;
/** Few texts make every word look common. */
const LEAST_TEXTS = 50;
/** A longer word that starts with the searched one, and one that is nearly as long. */
const LONGER = 0.6;
/** Longer words that are tried for one short one. */
const MOST_LONGER = 50;

/** Words and the texts they are in, ranked by BM25. Keeps no text. */
export class InvertedIndex {
  readonly #postings = new Map<string, Posting>();
  readonly #terms = new TermList();
  readonly #lengths: number[] = [];
  readonly #isRemoved: boolean[] = [];
  #removed = 0;
  #total = 0;
  #sums = new Sums(0);

  /** Texts that may still be found. */
  get size(): number {
    return this.#lengths.length - this.#removed;
  }

  /** Texts that were added, also removed ones; when there are many, make a new index. */
  get used(): number {
    return this.#lengths.length;
  }

  /** Adds a text; its number is for `remove` and for hits. */
  add(text: string): number {
    const document = this.#lengths.length;
    const counts = new Map<string, number>();
    const terms = indexTerms(text);
    for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
    for (const [term, count] of counts) {
      const posting = this.#postings.get(term);
      if (posting === undefined) {
        this.#postings.set(term, { documents: [document], counts: [count] });
        this.#terms.add(term);
      } else {
        posting.documents.push(document);
        posting.counts.push(count);
      }
    }
    this.#lengths.push(terms.length);
    this.#isRemoved.push(false);
    this.#total += terms.length;
    return document;
  }

  remove(document: number): void {
    if (this.#isRemoved[document] !== false) return;
    this.#isRemoved[document] = true;
    this.#removed += 1;
  }

  /** The best `most`, best first; of two equal ones the newer comes first. */
  search(words: readonly QueryWord[], most: number): readonly Scored[] {
    if (this.#sums.room < this.used) this.#sums = new Sums(this.used * 2);
    const sums = this.#sums;
    sums.clear();
    let wanted = 0;
    for (const word of words) {
      const rarest = this.#addWord(word, sums);
      // A word that is in no text says little about the subject of the question.
      wanted += word.weight * (rarest === 0 ? 1 : rarest);
      sums.endWord(word.weight);
    }
    const best = new BestFew(most);
    for (const document of sums.touched) {
      const coverage = Math.min(1, (sums.matched[document] ?? 0) / Math.max(wanted, 0.001));
      best.add(document, (sums.score[document] ?? 0) * (0.5 + coverage));
    }
    return best.all().map(({ document, score }) => {
      const coverage = Math.min(1, (sums.matched[document] ?? 0) / Math.max(wanted, 0.001));
      return { document, score, coverage, rarity: sums.rarity[document] ?? 0 };
    });
  }

  /** Scores each text by the form of the word that fits it best. Returns the rarity of the rarest form. */
  #addWord(word: QueryWord, sums: Sums): number {
    let rarest = 0;
    const average = Math.max(1, this.#total / Math.max(1, this.#lengths.length));
    for (const [term, share] of variantsOf(word, this.#terms)) {
      const posting = this.#postings.get(term);
      if (posting === undefined) continue;
      const { documents, counts } = posting;
      const rarity = this.#rarityOf(posting);
      rarest = Math.max(rarest, rarity);
      const most = rarity * share * word.weight;
      // The inner loop of all searching: no iterators, no objects.
      for (let at = 0; at < documents.length; at += 1) {
        const document = documents[at] ?? 0;
        if (this.#isRemoved[document]) continue;
        const count = counts[at] ?? 1;
        const length = (this.#lengths[document] ?? 0) / average;
        const weight = (count * (K1 + 1)) / (count + K1 * (1 - B + B * length));
        sums.offer(document, most * weight, rarity * share);
      }
    }
    return rarest;
  }

  #rarityOf({ documents }: Posting): number {
    const all = Math.max(this.size, LEAST_TEXTS);
    const having = Math.min(documents.length, all);
    return Math.log(1 + (all - having + 0.5) / (having + 0.5));
  }
}

/** The scores of one search by the numbers of the texts; the next search reuses the arrays. */
class Sums {
  readonly room: number;
  readonly score: Float64Array;
  readonly matched: Float64Array;
  readonly rarity: Float64Array;
  /** Texts with any word of the question. */
  readonly touched: number[] = [];
  readonly #best: Float64Array;
  readonly #bestRarity: Float64Array;
  readonly #seen: Uint8Array;
  readonly #ofWord: number[] = [];

  constructor(room: number) {
    this.room = room;
    this.score = new Float64Array(room);
    this.matched = new Float64Array(room);
    this.rarity = new Float64Array(room);
    this.#best = new Float64Array(room);
    this.#bestRarity = new Float64Array(room);
    this.#seen = new Uint8Array(room);
  }

  clear(): void {
    for (const document of this.touched) {
      this.score[document] = 0;
      this.matched[document] = 0;
      this.rarity[document] = 0;
      this.#seen[document] = 0;
    }
    this.touched.length = 0;
  }

  /** One form of the present word in a text. */
  offer(document: number, score: number, rarity: number): void {
    const best = this.#best[document] ?? 0;
    if (score <= best) return;
    if (best === 0) this.#ofWord.push(document);
    this.#best[document] = score;
    this.#bestRarity[document] = rarity;
  }

  /** Ends the present word: adds its best form to each text. */
  endWord(weight: number): void {
    const telling = Math.min(1, weight * 2);
    for (const document of this.#ofWord) {
      const rarity = this.#bestRarity[document] ?? 0;
      this.score[document] = (this.score[document] ?? 0) + (this.#best[document] ?? 0);
      this.matched[document] = (this.matched[document] ?? 0) + weight * rarity;
      this.rarity[document] = Math.max(this.rarity[document] ?? 0, rarity * telling);
      this.#best[document] = 0;
      if (this.#seen[document] === 1) continue;
      this.#seen[document] = 1;
      this.touched.push(document);
    }
    this.#ofWord.length = 0;
  }
}

/** The forms of a word, longer words that begin with one, and one a letter or two shorter. */
function variantsOf(
  { forms, prefix }: QueryWord,
  terms: TermList,
): readonly (readonly [string, number])[] {
  if (!prefix) return forms.map((form) => [form, 1]);
  return forms.flatMap((form) => [
    [form, 1] as const,
    ...(form.length >= 3
      ? terms.longerThan(form, MOST_LONGER).map((term) => [term, LONGER] as const)
      : []),
    ...[1, 2]
      .filter((cut) => form.length - cut >= 3)
      .map((cut) => [form.slice(0, -cut), LONGER] as const),
  ]);
}

/** A text and its score. */
export interface Ranked {
  readonly document: number;
  readonly score: number;
}

/** Keeps the best of many without sorting all of them. Of two equal ones the newer comes first. */
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
