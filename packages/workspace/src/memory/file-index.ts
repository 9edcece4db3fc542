import { lstatSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { FoundFile } from '../paths.ts';
import type { WorkspaceView } from '../workspace-view.ts';
import { type FoundPiece, PassageIndex } from './passage-index.ts';
import type { QueryWord } from './search-words.ts';

interface FileIndexOptions {
  /** The real path of the workspace. */
  readonly folder: string;
  /** The files it covers, as they are now. */
  readonly names: () => Promise<readonly string[]>;
  /** Those of them that each search checks, however many there are. */
  readonly always: readonly string[];
  /** Reads what the index may know. */
  readonly view: WorkspaceView;
  /** Measures time, in ms. */
  readonly clock: () => number;
}

/** A search waits for a check that takes no longer than this, in ms. */
const SHORT_CHECK_MS = 8;
/** A longer check is repeated after so many times its length: thousands of files cost 5 % at most. */
const REST = 20;
/** Files that are checked before the event loop runs on. */
const AT_ONCE = 200;

/**
 * The passages of some files, kept up to date with the disk. Each search checks the files first and reads
 * again what has changed (W07); only where there are so many that the check takes long, it runs in the
 * background, and a change by hand may be found a second or two later. What Parley itself saves is in
 * `always`, and found at once.
 */
export class FileIndex {
  readonly #options: FileIndexOptions;
  readonly #passages = new PassageIndex();
  readonly #fingerprints = new Map<string, string>();
  #checking: Promise<void> | null = null;
  #nextCheck = 0;
  #isLong = false;

  constructor(options: FileIndexOptions) {
    this.#options = options;
  }

  /** The best passages, best first. `words` is called only where there is anything to search. */
  async search(words: () => readonly QueryWord[], most: number): Promise<readonly FoundPiece[]> {
    // Searches during a check wait for the same one.
    if (this.#checking === null && this.#options.clock() >= this.#nextCheck) {
      this.#checking = this.#check();
      // A search in front of it does not see the error; the next search checks again, and waits.
      this.#checking.catch(() => {
        this.#isLong = false;
      });
    }
    if (!this.#isLong) await this.#checking;
    else for (const name of this.#options.always) await this.#update(name);
    return this.#passages.size === 0 ? [] : this.#passages.search(words(), most);
  }

  async #check(): Promise<void> {
    const { clock } = this.#options;
    const start = clock();
    // The first check reads everything and does not count.
    const isFirst = this.#fingerprints.size === 0;
    try {
      await this.#refresh();
      this.#isLong = !isFirst && clock() - start > SHORT_CHECK_MS;
    } finally {
      this.#checking = null;
      const end = clock();
      this.#nextCheck = this.#isLong ? end + (end - start) * REST : 0;
    }
  }

  async #refresh(): Promise<void> {
    const names = new Set(await this.#options.names());
    for (const name of this.#fingerprints.keys()) if (!names.has(name)) this.#drop(name);
    for (const [at, name] of [...names].entries()) {
      if (at % AT_ONCE === AT_ONCE - 1) await setImmediate();
      await this.#update(name);
    }
  }

  async #update(name: string): Promise<void> {
    const fingerprint = fingerprintOf(this.#options.folder, name);
    if (fingerprint === null) this.#drop(name);
    else if (this.#fingerprints.get(name) !== fingerprint) {
      const file = await this.#options.view.read(name, Number.MAX_SAFE_INTEGER);
      this.#passages.put(name, file.kind === 'file' ? file.text : '');
      this.#fingerprints.set(name, fingerprint);
    }
  }

  #drop(name: string): void {
    this.#passages.drop(name);
    this.#fingerprints.delete(name);
  }
}

/** Null: no file. Whether it may be read at all is decided by the view. */
function fingerprintOf(folder: string, name: string): string | null {
  try {
    const stats = lstatSync(`${folder}/${name}`, { bigint: true, throwIfNoEntry: false });
    if (stats === undefined || !stats.isFile()) return null;
    return new FoundFile(stats).fingerprint;
  } catch {
    // Without access to it, it cannot be read either.
    return null;
  }
}
