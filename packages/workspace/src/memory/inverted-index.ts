import { indexTerms, type QueryWord } from './search-words.ts';

/** A text that was found: its number, how well it fits, and how much of the question is in it. */
export interface Scored {
  readonly document: number;
  readonly score: number;
  /** 0 to 1: the part of the question's telling words that the text has. */
  readonly coverage: number;
  /** How rare the rarest word is that was found; above 2 it says something. */
  readonly rarity: number;
}

/** Words and where they stand. Keeps no text. */
export interface InvertedIndex {
  /** Adds a text; its number is for `remove` and for hits. */
  add(text: string): number;
  remove(document: number): void;
  /** Texts that may still be found. */
  readonly size: number;
  /** Texts that were added since it was made, also removed ones; when there are many, make a new one. */
  readonly used: number;
  search(words: readonly QueryWord[]): readonly Scored[];
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
/** A longer word that begins with the one looked for, and one that is nearly as long. */
const LONGER = 0.6;
/** Longer words that are tried for one short one. */
const MOST_LONGER = 50;

/** An empty one. */
export function createInvertedIndex(): InvertedIndex {
  return new WordIndex();
}

/** What has been found of one text so far. */
interface Match {
  score: number;
  matched: number;
  rarity: number;
}

class WordIndex implements InvertedIndex {
  readonly #postings = new Map<string, Posting>();
  readonly #lengths: number[] = [];
  readonly #removed = new Set<number>();
  #total = 0;
  #sorted: readonly string[] | null = null;

  get size(): number {
    return this.#lengths.length - this.#removed.size;
  }

  get used(): number {
    return this.#lengths.length;
  }

  add(text: string): number {
    const document = this.#lengths.length;
    const counts = new Map<string, number>();
    const terms = indexTerms(text);
    for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
    for (const [term, count] of counts) {
      const posting = this.#postings.get(term);
      if (posting === undefined) {
        this.#postings.set(term, { documents: [document], counts: [count] });
        this.#sorted = null;
      } else {
        posting.documents.push(document);
        posting.counts.push(count);
      }
    }
    this.#lengths.push(terms.length);
    this.#total += terms.length;
    return document;
  }

  remove(document: number): void {
    this.#removed.add(document);
  }

  search(words: readonly QueryWord[]): readonly Scored[] {
    const matches = new Map<number, Match>();
    let wanted = 0;
    for (const word of words) {
      const { best, rarest } = this.#textsWith(word);
      // A word that stands nowhere tells little about what the question is about.
      wanted += word.weight * (rarest === 0 ? 1 : rarest);
      for (const [document, { score, rarity }] of best) {
        const match = matches.get(document) ?? { score: 0, matched: 0, rarity: 0 };
        match.score += score;
        match.matched += word.weight * rarity;
        match.rarity = Math.max(match.rarity, rarity * Math.min(1, word.weight * 2));
        matches.set(document, match);
      }
    }
    return [...matches].map(([document, { score, matched, rarity }]) => {
      const coverage = Math.min(1, matched / Math.max(wanted, 0.001));
      return { document, score: score * (0.5 + coverage), coverage, rarity };
    });
  }

  /** By text, the form of the word that fits it best. */
  #textsWith(word: QueryWord) {
    const best = new Map<number, { readonly score: number; readonly rarity: number }>();
    let rarest = 0;
    this.#sorted ??= [...this.#postings.keys()].sort();
    for (const [term, share] of variantsOf(word, this.#sorted)) {
      const posting = this.#postings.get(term);
      if (posting === undefined) continue;
      const rarity = this.#rarityOf(posting);
      rarest = Math.max(rarest, rarity);
      for (const [at, document] of posting.documents.entries()) {
        if (this.#removed.has(document)) continue;
        const score = rarity * share * word.weight * this.#weightOf(document, posting.counts[at]);
        if (score > (best.get(document)?.score ?? 0)) {
          best.set(document, { score, rarity: rarity * share });
        }
      }
    }
    return { best, rarest };
  }

  #rarityOf({ documents }: Posting): number {
    const all = Math.max(this.size, LEAST_TEXTS);
    const having = Math.min(documents.length, all);
    return Math.log(1 + (all - having + 0.5) / (having + 0.5));
  }

  #weightOf(document: number, count = 1): number {
    const average = Math.max(1, this.#total / Math.max(1, this.#lengths.length));
    const length = this.#lengths[document] ?? 0;
    return (count * (K1 + 1)) / (count + K1 * (1 - B + (B * length) / average));
  }
}

/** The forms of a word, longer words that begin with one, and one a letter or two shorter. */
function variantsOf(
  { forms, prefix }: QueryWord,
  sorted: readonly string[],
): readonly (readonly [string, number])[] {
  if (!prefix) return forms.map((form) => [form, 1]);
  return forms.flatMap((form) => [
    [form, 1] as const,
    ...(form.length >= 3 ? longerThan(form, sorted).map((term) => [term, LONGER] as const) : []),
    ...[1, 2]
      .filter((cut) => form.length - cut >= 3)
      .map((cut) => [form.slice(0, -cut), LONGER] as const),
  ]);
}

function longerThan(form: string, sorted: readonly string[]): readonly string[] {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? '') <= form) low = middle + 1;
    else high = middle;
  }
  const longer: string[] = [];
  for (let at = low; at < sorted.length && longer.length < MOST_LONGER; at += 1) {
    const term = sorted[at] ?? '';
    if (!term.startsWith(form)) break;
    longer.push(term);
  }
  return longer;
}
