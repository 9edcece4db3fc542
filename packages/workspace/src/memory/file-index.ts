import { lstatSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import type { WorkspaceView } from '../workspace-view.ts';
import { createInvertedIndex, type Scored } from './inverted-index.ts';
import { type Piece, passageOf, piecesOf } from './passages.ts';
import type { QueryWord } from './search-words.ts';

/** The words of some files, kept in step with the disk. Holds no text. */
export interface FileIndex {
  /** The best places, best first. `words` is called only where there is anything to search. */
  search(words: () => readonly QueryWord[], most: number): Promise<readonly FoundPlace[]>;
}

export interface FileIndexOptions {
  /** The real path of the workspace. */
  readonly folder: string;
  /** The files it covers, as they are now. */
  readonly names: () => Promise<readonly string[]>;
  /** Those of them that each search looks at, however many there are. */
  readonly always: readonly string[];
  /** Reads what the index may know. */
  readonly view: WorkspaceView;
  /** Further passages are not found. */
  readonly mostPassages: number;
  /** Measures time, in ms. */
  readonly clock: () => number;
}

/** A search waits for looking that takes no longer than this, in ms. */
const SHORT_LOOK_MS = 8;
/** A longer look is done again after so many times its length: thousands of files cost 5 % at most. */
const REST = 20;
/** Files that are looked at before others get their turn. */
const AT_ONCE = 200;

/**
 * Makes one. Each search looks at the files first and reads again what has changed (W07); only where
 * there are so many that looking takes long, it is done beside the searches, and a change by hand may
 * be found a second or two later. What Parley itself saves is in `always`, and found at once.
 */
export function createFileIndex(options: FileIndexOptions): FileIndex {
  let files: IndexedFiles | null = null;
  let looking: Promise<void> | null = null;
  let rested = 0;
  let isLong = false;
  const lookAt = async (into: IndexedFiles, name: string): Promise<void> => {
    const fingerprint = fingerprintOf(options.folder, name);
    if (fingerprint === null) into.drop(name);
    else if (into.fingerprintOf(name) !== fingerprint) {
      const file = await options.view.read(name, Number.MAX_SAFE_INTEGER);
      into.take(name, fingerprint, file.kind === 'file' ? file.text : '');
    }
  };
  const refresh = async (): Promise<void> => {
    // What is made anew takes the old one's place when it is whole.
    const isAnew = files === null || files.isWasteful();
    const into = isAnew || files === null ? createIndexedFiles(options.mostPassages) : files;
    const names = await options.names();
    into.keepOnly(new Set(names));
    for (const [at, name] of names.entries()) {
      if (at % AT_ONCE === AT_ONCE - 1) await setImmediate();
      await lookAt(into, name);
    }
    files = into;
  };
  const look = async (): Promise<void> => {
    const begun = options.clock();
    const isFirst = files === null;
    try {
      await refresh();
      // The first look reads everything and says nothing of the next.
      isLong = !isFirst && options.clock() - begun > SHORT_LOOK_MS;
    } finally {
      looking = null;
      const end = options.clock();
      rested = isLong ? end + (end - begun) * REST : 0;
    }
  };
  return {
    async search(words, most) {
      // Whoever asks while files are being read waits for the same reading.
      if (looking === null && options.clock() >= rested) {
        looking = look();
        // Who does not wait for it is not told; the next search looks again, and waits.
        looking.catch(() => {
          isLong = false;
        });
      }
      if (looking !== null && (files === null || !isLong)) await looking;
      if (isLong && files !== null) for (const name of options.always) await lookAt(files, name);
      return files === null || files.isEmpty() ? [] : files.search(words(), most);
    },
  };
}

/** Null: no file. Whether it may be read at all is for the view to say. */
function fingerprintOf(folder: string, name: string): string | null {
  try {
    const stats = lstatSync(`${folder}/${name}`, { bigint: true, throwIfNoEntry: false });
    if (stats === undefined || !stats.isFile()) return null;
    return [stats.dev, stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs].join(':');
  } catch {
    // It cannot be looked at, so it cannot be read either.
    return null;
  }
}

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
