import { parseFileName } from '../file-name.ts';
import { walkPath } from '../walk-path.ts';
import type { WorkspaceView } from '../workspace-view.ts';
import { createInvertedIndex, type InvertedIndex, type Scored } from './inverted-index.ts';
import { passagesOf } from './passages.ts';
import type { QueryWord } from './search-words.ts';

/** A passage by its place: the n-th of a file. Its text is read through the view of whoever asks. */
export interface FoundPlace extends Omit<Scored, 'document'> {
  readonly name: string;
  readonly nth: number;
}

/** The words of some files, kept in step with the disk. Holds no text. */
export interface FileIndex {
  /** The best places, best first. */
  search(words: readonly QueryWord[], most: number): Promise<readonly FoundPlace[]>;
}

export interface FileIndexOptions {
  /** The real path of the workspace. */
  readonly folder: string;
  /** The files it covers, as they are now. */
  readonly names: () => Promise<readonly string[]>;
  /** Reads what the index may know. */
  readonly view: WorkspaceView;
  /** Further passages are not found. */
  readonly mostPassages: number;
  /** Measures time, in ms. */
  readonly clock: () => number;
}

interface Known {
  readonly fingerprint: string;
  readonly documents: readonly number[];
}

/** A removed text leaves its words behind; when these are more than what is left, all is built anew. */
const WASTE = 1_000;

/** Looking that takes no longer than this is done for each search, in ms. */
const SHORT_LOOK_MS = 8;
/** A longer look is done again after so many times its length: thousands of files cost 5 % at most. */
const REST = 20;

/**
 * Makes one. Each search looks at the files first and reads again what has changed (W07); only where
 * there are so many that looking takes long, a change may be found a second or two later.
 */
export function createFileIndex(options: FileIndexOptions): FileIndex {
  let index = createInvertedIndex();
  let files = new Map<string, Known>();
  let places: { readonly name: string; readonly nth: number }[] = [];
  let refreshing: Promise<void> | null = null;
  let rested = 0;
  const drop = (name: string): void => {
    for (const document of files.get(name)?.documents ?? []) index.remove(document);
    files.delete(name);
  };
  const take = async (name: string, fingerprint: string): Promise<void> => {
    drop(name);
    const file = await options.view.read(name, Number.MAX_SAFE_INTEGER);
    const passages = file.kind === 'file' ? passagesOf(name, file.text) : [];
    const room = Math.max(0, options.mostPassages - index.size);
    const documents = passages.slice(0, room).map(({ heading, text }, nth) => {
      places.push({ name, nth });
      return index.add(`${heading}\n${text}`);
    });
    files.set(name, { fingerprint, documents });
  };
  const refresh = async (): Promise<void> => {
    if (isWasteful(index)) {
      index = createInvertedIndex();
      files = new Map();
      places = [];
    }
    const names = await options.names();
    const present = new Set(names);
    for (const name of [...files.keys()]) if (!present.has(name)) drop(name);
    for (const name of names) {
      const fingerprint = fingerprintOf(options.folder, name);
      if (fingerprint === null) drop(name);
      else if (files.get(name)?.fingerprint !== fingerprint) await take(name, fingerprint);
    }
  };
  const look = async (): Promise<void> => {
    const begun = options.clock();
    try {
      await refresh();
    } finally {
      refreshing = null;
      const end = options.clock();
      rested = end - begun <= SHORT_LOOK_MS ? 0 : end + (end - begun) * REST;
    }
  };
  return {
    async search(words, most) {
      // Whoever asks while files are being read waits for the same reading.
      if (refreshing !== null || options.clock() >= rested) {
        refreshing ??= look();
        await refreshing;
      }
      const hits = index.search(words);
      return best(hits, most).flatMap(({ document, ...hit }) => {
        const place = places[document];
        return place === undefined ? [] : [{ ...hit, ...place }];
      });
    },
  };
}

function isWasteful({ size, used }: InvertedIndex): boolean {
  return used - size > Math.max(WASTE, size);
}

/** The best of many, without sorting all of them. Where two fit alike the newer one comes first. */
function best(hits: readonly Scored[], most: number): readonly Scored[] {
  const scores = Float64Array.from(hits, ({ score }) => score).sort();
  const least = scores[Math.max(0, scores.length - most)] ?? 0;
  return hits
    .filter(({ score }) => score >= least)
    .sort((one, other) => other.score - one.score || other.document - one.document)
    .slice(0, most);
}

/** Null: nothing that a view would read. */
function fingerprintOf(folder: string, name: string): string | null {
  const path = parseFileName(name);
  if (path === null) return null;
  try {
    const walked = walkPath(folder, path);
    return walked.kind === 'file' ? walked.file.fingerprint : null;
  } catch {
    // It cannot be looked at, so it cannot be read either.
    return null;
  }
}
