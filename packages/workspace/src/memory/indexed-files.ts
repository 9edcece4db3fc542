import { createInvertedIndex, type Scored } from './inverted-index.ts';
import { type Piece, passageOf, piecesOf } from './passages.ts';
import type { QueryWord } from './search-words.ts';

/** A passage by its place: the n-th of a file. Its text is read through the view of whoever asks. */
export interface FoundPlace extends Omit<Scored, 'document'> {
  readonly name: string;
  readonly nth: number;
}

/** Files and the words in them. Holds no text. */
export interface IndexedFiles {
  /** Of the file as it was taken last. */
  fingerprintOf(name: string): string | undefined;
  /** Takes a file in; what stood in it before and still does costs next to nothing. */
  take(name: string, fingerprint: string, text: string): void;
  drop(name: string): void;
  /** Drops all files but these. */
  keepOnly(names: ReadonlySet<string>): void;
  /** There is nothing to be found. */
  isEmpty(): boolean;
  /** The best places, best first. */
  search(words: readonly QueryWord[], most: number): readonly FoundPlace[];
  /** So much has gone that a new one would be smaller. */
  isWasteful(): boolean;
}

interface Known {
  readonly fingerprint: string;
  /** By the print of each piece, its numbers in the index. */
  readonly documents: ReadonlyMap<number, readonly number[]>;
}

/** A removed text leaves its words behind; when these are more than what is left, all is built anew. */
const WASTE = 1_000;

/** An empty one; further passages than `mostPassages` are not found. */
export function createIndexedFiles(mostPassages: number): IndexedFiles {
  const index = createInvertedIndex();
  const files = new Map<string, Known>();
  const places: { readonly name: string; nth: number }[] = [];
  const add = (name: string, nth: number, piece: Piece): number[] => {
    const passage = index.size < mostPassages ? passageOf(name, piece) : null;
    if (passage === null) return [];
    places.push({ name, nth });
    return [index.add(`${passage.heading}\n${passage.text}`)];
  };
  const drop = (name: string): void => {
    for (const numbers of files.get(name)?.documents.values() ?? [])
      for (const number of numbers) index.remove(number);
    files.delete(name);
  };
  return {
    fingerprintOf: (name) => files.get(name)?.fingerprint,
    take(name, fingerprint, text) {
      const before = new Map(files.get(name)?.documents);
      const documents = new Map<number, number[]>();
      for (const [nth, piece] of piecesOf(name, text).entries()) {
        const print = printOf(piece);
        const [same, ...others] = before.get(print) ?? [];
        if (same !== undefined) {
          before.set(print, others);
          const place = places[same];
          if (place !== undefined) place.nth = nth;
        }
        const numbers = same === undefined ? add(name, nth, piece) : [same];
        documents.set(print, [...(documents.get(print) ?? []), ...numbers]);
      }
      for (const numbers of before.values()) for (const number of numbers) index.remove(number);
      files.set(name, { fingerprint, documents });
    },
    drop,
    keepOnly(names) {
      for (const name of [...files.keys()]) if (!names.has(name)) drop(name);
    },
    isEmpty: () => index.size === 0,
    search: (words, most) =>
      index.search(words, most).flatMap(({ document, ...hit }) => {
        const place = places[document];
        return place === undefined ? [] : [{ ...hit, ...place }];
      }),
    isWasteful: () => index.used - index.size > Math.max(WASTE, index.size),
  };
}

/** Tells pieces of a file apart: 53 bits, so that two that differ never meet in practice. */
function printOf({ heading, raw }: Piece): number {
  let high = 0x811c9dc5;
  let low = 0x9e3779b9;
  for (const text of [heading, raw]) {
    for (let at = 0; at < text.length; at += 1) {
      const unit = text.charCodeAt(at);
      high = Math.imul(high ^ unit, 0x01000193);
      low = Math.imul(low ^ unit, 0x85ebca6b) ^ (low >>> 15);
    }
    high = Math.imul(high ^ 0x10000, 0x01000193);
  }
  return (high >>> 11) * 2 ** 32 + (low >>> 0);
}
