import { lstatSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import type { WorkspaceView } from '../workspace-view.ts';
import { createIndexedFiles, type FoundPlace, type IndexedFiles } from './indexed-files.ts';
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
