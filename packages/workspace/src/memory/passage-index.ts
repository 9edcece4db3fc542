import { getFileScope, type MemoryEntry, parseMemoryFile } from './memory-file.ts';
import { listIndexTerms, type QueryWord } from './search-words.ts';

/** A matching piece of a file, its score, and how much of the query it matches. */
export interface PassageMatch {
  readonly piece: IndexedFilePiece;
  readonly score: number;
  /** The share of the query's significant words that occur in the piece, from 0 to 1. */
  readonly coverage: number;
  /** The rarity of the rarest matching word; a value above 2 is significant. */
  readonly rarity: number;
}

interface IndexedFile {
  readonly name: string;
  text: string;
  /** The pieces of a file, keyed by their text. */
  readonly pieces: Map<string, IndexedFilePiece>;
}

interface IndexedFilePiece extends PassagePiece {
  readonly file: IndexedFile;
  /** Identifies the piece in postings; the number is reused once the piece has been removed. */
  readonly number: number;
  /** Higher for pieces that were added later. */
  readonly nth: number;
  /** The length of the piece in terms. */
  readonly length: number;
}

/** The numbers of the pieces that contain a term, and how often each contains it. */
interface Posting {
  readonly numbers: number[];
  readonly counts: number[];
}

/** The running sums for one search, by piece number. */
interface ScoreSums {
  readonly score: Float64Array;
  readonly matched: Float64Array;
  readonly rarity: Float64Array;
  /** The score of each piece for the best form of the current word. */
  readonly best: Float64Array;
  readonly bestRarity: Float64Array;
}

/** The maximum number of indexed pieces; 10,000 take about 15 MB. */
const MAX_PIECES = 50_000;
/** The usual BM25 parameters. */
const K1 = 1.2;
const B = 0.5;
/** The minimum number of pieces assumed, because with fewer, every word would look common. */
const MIN_PIECES = 50;
/**
 * The weights of a longer word that starts with the search word, and of a longer word that is
 * nearly the same length.
 */
const LONGER = 0.6;
/** The maximum number of longer words tried for one short word. */
const MAX_LONGER_WORDS = 50;

/** File pieces indexed by their words, ranked by BM25. */
export class PassageIndex {
  readonly #mostPieces: number;
  readonly #files = new Map<string, IndexedFile>();
  /** The pieces, indexed by their numbers. */
  readonly #pieces: (IndexedFilePiece | undefined)[] = [];
  readonly #lengths: number[] = [];
  readonly #free: number[] = [];
  readonly #postings = new Map<string, Posting>();
  /** All terms in sorted order, to find longer words by their prefix. */
  readonly #terms: string[] = [];
  #added = 0;
  #total = 0;

  /** @param Pieces beyond `mostPieces` are not indexed. */
  constructor(mostPieces = MAX_PIECES) {
    this.#mostPieces = mostPieces;
  }

  get size(): number {
    return this.#pieces.length - this.#free.length;
  }

  /** Adds or replaces a file; unchanged pieces cost next to nothing. */
  put(name: string, text: string): void {
    const file = this.#files.get(name) ?? { name, text, pieces: new Map() };
    this.#files.set(name, file);
    file.text = text;
    const now = new Map(
      splitIntoPassages(name, text).map((piece) => [`${piece.heading}\n${piece.raw}`, piece]),
    );
    for (const [key, piece] of file.pieces) {
      if (now.has(key)) continue;
      this.#remove(piece);
      file.pieces.delete(key);
    }
    for (const [key, piece] of now) if (!file.pieces.has(key)) this.#add(file, key, piece);
  }

  drop(name: string): void {
    for (const piece of this.#files.get(name)?.pieces.values() ?? []) this.#remove(piece);
    this.#files.delete(name);
  }

  /**
   * Finds the best `most` pieces, best first; if two are equally good, the newer one comes first.
   */
  search(words: readonly QueryWord[], most: number): readonly PassageMatch[] {
    const room = () => new Float64Array(this.#pieces.length);
    const [score, matched, rarity] = [room(), room(), room()];
    const sums = { score, matched, rarity, best: room(), bestRarity: room() };
    let wanted = 0;
    for (const word of words) {
      const rarest = this.#addWord(word, sums);
      // A word that does not occur in any text says little about the subject of the query.
      wanted += word.weight * (rarest === 0 ? 1 : rarest);
    }
    const coverageOf = (number: number) =>
      Math.min(1, (matched[number] ?? 0) / Math.max(wanted, 0.001));
    for (let number = 0; number < score.length; number += 1) {
      if (score[number] !== 0) score[number] = (score[number] ?? 0) * (0.5 + coverageOf(number));
    }
    // Sorting numbers is ten times as fast as sorting objects.
    const least =
      score
        .filter((one) => one > 0)
        .sort()
        .at(-most) ?? Number.MIN_VALUE;
    return this.#pieces
      .flatMap((piece, number) => {
        const one = score[number] ?? 0;
        if (piece === undefined || one < least) return [];
        const facts = { coverage: coverageOf(number), rarity: rarity[number] ?? 0 };
        return [{ piece, score: one, ...facts }];
      })
      .sort((one, other) => other.score - one.score || other.piece.nth - one.piece.nth)
      .slice(0, most);
  }

  /** Scores each piece by the word's best form, and returns the rarity of the rarest form. */
  #addWord(word: QueryWord, { score, matched, rarity, best, bestRarity }: ScoreSums): number {
    best.fill(0);
    bestRarity.fill(0);
    let rarest = 0;
    const average = Math.max(1, this.#total / Math.max(1, this.size));
    for (const [term, share] of this.#variantsOf(word)) {
      const { numbers, counts } = this.#postings.get(term) ?? NO_POSTING;
      if (numbers.length === 0) continue;
      const rare = this.#rarityOf(numbers.length);
      rarest = Math.max(rarest, rare);
      // This is the innermost loop of every search, so it does not use iterators or objects.
      for (let at = 0; at < numbers.length; at += 1) {
        const number = numbers[at] ?? 0;
        const count = counts[at] ?? 1;
        const length = (this.#lengths[number] ?? 0) / average;
        const weight = (count * (K1 + 1)) / (count + K1 * (1 - B + B * length));
        const one = rare * share * word.weight * weight;
        const before = best[number] ?? 0;
        if (one <= before) continue;
        const gained = rare * share - (bestRarity[number] ?? 0);
        score[number] = (score[number] ?? 0) + one - before;
        matched[number] = (matched[number] ?? 0) + word.weight * gained;
        const significance = rare * share * Math.min(1, word.weight * 2);
        rarity[number] = Math.max(rarity[number] ?? 0, significance);
        best[number] = one;
        bestRarity[number] = rare * share;
      }
    }
    return rarest;
  }

  /**
   * Lists the forms of a word, longer words that start with one of them, and words that are a
   * letter or two shorter.
   */
  #variantsOf({ forms, prefix }: QueryWord): readonly (readonly [string, number])[] {
    const whole = forms.map((form) => [form, 1] as const);
    if (!prefix) return whole;
    const others = forms.flatMap((form) => [
      ...(form.length >= 3 ? this.#longerThan(form) : []),
      ...[1, 2].filter((cut) => form.length - cut >= 3).map((cut) => form.slice(0, -cut)),
    ]);
    return [...whole, ...others.map((term) => [term, LONGER] as const)];
  }

  #longerThan(start: string): readonly string[] {
    const from = findLowerBound(this.#terms, start) + (this.#postings.has(start) ? 1 : 0);
    const next = this.#terms.slice(from, from + MAX_LONGER_WORDS);
    const end = next.findIndex((term) => !term.startsWith(start));
    return end === -1 ? next : next.slice(0, end);
  }

  /** Computes the rarity of a term that occurs in this many pieces. */
  #rarityOf(having: number): number {
    const all = Math.max(this.size, MIN_PIECES);
    return Math.log(1 + (all - having + 0.5) / (having + 0.5));
  }

  #add(file: IndexedFile, key: string, piece: PassagePiece): void {
    const terms = this.size < this.#mostPieces ? listPieceTerms(file.name, piece) : [];
    const { length } = terms;
    if (length === 0) return;
    const number = this.#free.pop() ?? this.#pieces.length;
    this.#added += 1;
    const indexed = { ...piece, file, number, nth: this.#added, length };
    this.#pieces[number] = indexed;
    this.#lengths[number] = length;
    for (const term of terms) {
      const { numbers, counts } = this.#postings.get(term) ?? this.#newTerm(term);
      if (numbers.at(-1) === number) counts.push((counts.pop() ?? 0) + 1);
      else {
        numbers.push(number);
        counts.push(1);
      }
    }
    this.#total += length;
    file.pieces.set(key, indexed);
  }

  #newTerm(term: string): Posting {
    const posting = { numbers: [], counts: [] };
    this.#postings.set(term, posting);
    this.#terms.splice(findLowerBound(this.#terms, term), 0, term);
    return posting;
  }

  #remove({ file, number, length, ...piece }: IndexedFilePiece): void {
    for (const term of new Set(listPieceTerms(file.name, piece))) {
      const { numbers, counts } = this.#postings.get(term) ?? NO_POSTING;
      const at = numbers.indexOf(number);
      numbers.splice(at, 1);
      counts.splice(at, 1);
      if (numbers.length > 0) continue;
      this.#postings.delete(term);
      this.#terms.splice(findLowerBound(this.#terms, term), 1);
    }
    this.#pieces[number] = undefined;
    this.#free.push(number);
    this.#total -= length;
  }
}

const NO_POSTING: Posting = { numbers: [], counts: [] };

function listPieceTerms(name: string, piece: PassagePiece): readonly string[] {
  const passage = toPassage(name, piece);
  return passage === null ? [] : listIndexTerms(`${passage.heading}\n${passage.text}`);
}

/** Finds the index of a term in a sorted list, or the index at which it would be inserted. */
function findLowerBound(sorted: readonly string[], term: string): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? '') < term) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The kind of text from which a passage comes. */
export type PassageKind = 'saved' | 'note' | 'knowledge';

/** A piece of a file that can be found separately. */
export interface Passage {
  readonly kind: PassageKind;
  /** The text as displayed. */
  readonly text: string;
  /** The headings above the passage, which help to find it. */
  readonly heading: string;
  /** The memory entry, if the passage is a saved memory. */
  readonly entry?: MemoryEntry;
}

/** The maximum length of a passage; a longer section is split into several. */
const PIECE = /[\s\S]{1,1200}/gu;

/** A passage as it appears in the file, not yet parsed. */
export interface PassagePiece {
  readonly raw: string;
  readonly heading: string;
}

/**
 * Splits a file into separately searchable pieces: memories line by line, all other text section by
 * section.
 */
function splitIntoPassages(name: string, text: string): readonly PassagePiece[] {
  if (getFileScope(name) === null) return splitSections(text);
  // Lines are parsed later, because parsing costs more than all other steps together and most lines
  // are never needed.
  return text
    .split('\n')
    .filter(isListItem)
    .map((raw) => ({ raw, heading: '' }));
}

/** Parses the passage in a piece; null if the piece is empty. */
export function toPassage(name: string, { raw, heading }: PassagePiece): Passage | null {
  const scope = getFileScope(name);
  if (scope === null) {
    const kind = name.startsWith('knowledge/') ? 'knowledge' : 'note';
    return { kind, text: raw, heading };
  }
  const [entry] = parseMemoryFile(raw, scope);
  return entry === undefined ? null : { kind: 'saved', text: entry.text, heading: '', entry };
}

function splitSections(text: string): readonly PassagePiece[] {
  const found: PassagePiece[] = [];
  let heading = '';
  let lines: string[] = [];
  const end = (): void => {
    const body = lines.join('\n').trim();
    lines = [];
    for (const raw of body.match(PIECE) ?? []) found.push({ heading, raw: raw.trim() });
  };
  for (const line of text.split('\n')) {
    const title = /^#{1,6}\s+(.*)$/.exec(line)?.[1];
    // A list of short notes counts as separate notes.
    if (title !== undefined || isListItem(line) || line.trim() === '') end();
    if (title !== undefined) heading = title.trim();
    else if (line.trim() !== '') lines.push(line);
  }
  end();
  return found;
}

function isListItem(line: string): boolean {
  return /^[-*+] /.test(line);
}
