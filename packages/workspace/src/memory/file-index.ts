import { lstatSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { FoundFile } from '../paths.ts';
import type { WorkspaceView } from '../workspace-view.ts';
import { InvertedIndex, type Scored } from './inverted-index.ts';
import { type MemoryEntry, parseMemoryFile, scopeOfFile } from './memory-file.ts';
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
  /** Further passages are not found. */
  readonly mostPassages: number;
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
 * The words of some files, kept up to date with the disk. Holds no text. Each search checks the files
 * first and reads again what has changed (W07); only where there are so many that the check takes long, it
 * runs in the background, and a change by hand may be found a second or two later. What Parley itself
 * saves is in `always`, and found at once.
 */
export class FileIndex {
  readonly #options: FileIndexOptions;
  #files: IndexedFiles | null = null;
  #checking: Promise<void> | null = null;
  #nextCheck = 0;
  #isLong = false;

  constructor(options: FileIndexOptions) {
    this.#options = options;
  }

  /** The best places, best first. `words` is called only where there is anything to search. */
  async search(words: () => readonly QueryWord[], most: number): Promise<readonly FoundPlace[]> {
    // Searches during a check wait for the same one.
    if (this.#checking === null && this.#options.clock() >= this.#nextCheck) {
      this.#checking = this.#check();
      // A search in front of it does not see the error; the next search checks again, and waits.
      this.#checking.catch(() => {
        this.#isLong = false;
      });
    }
    if (this.#checking !== null && (this.#files === null || !this.#isLong)) await this.#checking;
    for (const name of this.#isLong ? this.#options.always : []) {
      if (this.#files !== null) await this.#update(this.#files, name);
    }
    // Read again here: a check may have replaced it meanwhile.
    const files = this.#files;
    return files === null || files.isEmpty() ? [] : files.search(words(), most);
  }

  async #check(): Promise<void> {
    const { clock } = this.#options;
    const start = clock();
    const isFirst = this.#files === null;
    try {
      await this.#refresh();
      // The first check reads everything and does not count.
      this.#isLong = !isFirst && clock() - start > SHORT_CHECK_MS;
    } finally {
      this.#checking = null;
      const end = clock();
      this.#nextCheck = this.#isLong ? end + (end - start) * REST : 0;
    }
  }

  async #refresh(): Promise<void> {
    // A new index replaces a wasteful one when it is complete.
    const files =
      this.#files === null || this.#files.isWasteful()
        ? new IndexedFiles(this.#options.mostPassages)
        : this.#files;
    const names = await this.#options.names();
    files.keepOnly(new Set(names));
    for (const [at, name] of names.entries()) {
      if (at % AT_ONCE === AT_ONCE - 1) await setImmediate();
      await this.#update(files, name);
    }
    this.#files = files;
  }

  async #update(files: IndexedFiles, name: string): Promise<void> {
    const fingerprint = fingerprintOf(this.#options.folder, name);
    if (fingerprint === null) files.drop(name);
    else if (files.fingerprintOf(name) !== fingerprint) {
      const file = await this.#options.view.read(name, Number.MAX_SAFE_INTEGER);
      files.put(name, fingerprint, file.kind === 'file' ? file.text : '');
    }
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

/** A passage by its place: the n-th of a file. Its text is read through the view of the caller. */
export interface FoundPlace extends Omit<Scored, 'document'> {
  readonly name: string;
  readonly nth: number;
}

interface Known {
  readonly fingerprint: string;
  /** By the print of each piece, its numbers in the index. */
  readonly documents: ReadonlyMap<number, readonly number[]>;
}

/** A removed text leaves its words behind; when these outnumber the rest, the index is built again. */
const WASTE = 1_000;

/** Files and the words in them. Holds no text. */
export class IndexedFiles {
  readonly #mostPassages: number;
  readonly #index = new InvertedIndex();
  readonly #files = new Map<string, Known>();
  readonly #places: { readonly name: string; nth: number }[] = [];

  /** @param mostPassages further passages are not found. */
  constructor(mostPassages: number) {
    this.#mostPassages = mostPassages;
  }

  fingerprintOf(name: string): string | undefined {
    return this.#files.get(name)?.fingerprint;
  }

  /** Adds or replaces a file; pieces that were in it before and still are cost next to nothing. */
  put(name: string, fingerprint: string, text: string): void {
    const before = new Map(this.#files.get(name)?.documents);
    const documents = new Map<number, number[]>();
    for (const [nth, piece] of piecesOf(name, text).entries()) {
      const print = printOf(piece);
      const [same, ...others] = before.get(print) ?? [];
      if (same !== undefined) {
        before.set(print, others);
        const place = this.#places[same];
        if (place !== undefined) place.nth = nth;
      }
      const numbers = same === undefined ? this.#add(name, nth, piece) : [same];
      documents.set(print, [...(documents.get(print) ?? []), ...numbers]);
    }
    this.#remove(before);
    this.#files.set(name, { fingerprint, documents });
  }

  drop(name: string): void {
    this.#remove(this.#files.get(name)?.documents ?? new Map());
    this.#files.delete(name);
  }

  /** Drops all files but these. */
  keepOnly(names: ReadonlySet<string>): void {
    for (const name of [...this.#files.keys()]) if (!names.has(name)) this.drop(name);
  }

  isEmpty(): boolean {
    return this.#index.size === 0;
  }

  /** The best places, best first. */
  search(words: readonly QueryWord[], most: number): readonly FoundPlace[] {
    return this.#index.search(words, most).flatMap(({ document, ...hit }) => {
      const place = this.#places[document];
      return place === undefined ? [] : [{ ...hit, ...place }];
    });
  }

  /** So much was removed that a new one would be smaller. */
  isWasteful(): boolean {
    return this.#index.used - this.#index.size > Math.max(WASTE, this.#index.size);
  }

  #add(name: string, nth: number, piece: Piece): number[] {
    const passage = this.#index.size < this.#mostPassages ? passageOf(name, piece) : null;
    if (passage === null) return [];
    this.#places.push({ name, nth });
    return [this.#index.add(`${passage.heading}\n${passage.text}`)];
  }

  #remove(documents: Known['documents']): void {
    for (const numbers of documents.values())
      for (const number of numbers) this.#index.remove(number);
  }
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

/** The origin of a found text. */
export type PassageKind = 'saved' | 'note' | 'knowledge';

/** A piece of a file that can be found by itself. */
export interface Passage {
  readonly kind: PassageKind;
  /** As it is shown. */
  readonly text: string;
  /** The headings above it; they help to find it. */
  readonly heading: string;
  /** Of a saved memory. */
  readonly entry?: MemoryEntry;
}

/** Longest passage, in characters; longer sections are cut into several. */
const LONGEST = 1_200;

/** A passage as it is in the file, not parsed yet. */
export interface Piece {
  readonly raw: string;
  readonly heading: string;
}

/** Cuts a file into separately searchable pieces: memories line by line, everything else by sections. */
export function piecesOf(name: string, text: string): readonly Piece[] {
  if (scopeOfFile(name) === null) return sections(text);
  // Parsing a line costs more than all the rest, and most lines are never needed.
  return text
    .split('\n')
    .filter(isItem)
    .map((raw) => ({ raw, heading: '' }));
}

/** The passage of a piece; null where it is empty. */
export function passageOf(name: string, { raw, heading }: Piece): Passage | null {
  const scope = scopeOfFile(name);
  if (scope === null) {
    const kind = name.startsWith('knowledge/') ? 'knowledge' : 'note';
    return { kind, text: raw, heading };
  }
  const [entry] = parseMemoryFile(raw, scope);
  return entry === undefined ? null : { kind: 'saved', text: entry.text, heading: '', entry };
}

function sections(text: string): readonly Piece[] {
  const found: Piece[] = [];
  let heading = '';
  let lines: string[] = [];
  const end = (): void => {
    const body = lines.join('\n').trim();
    lines = [];
    for (let at = 0; at < body.length; at += LONGEST) {
      found.push({
        heading,
        raw: body
          .slice(at, at + LONGEST)
          .toWellFormed()
          .trim(),
      });
    }
  };
  for (const line of text.split('\n')) {
    const title = /^#{1,6}\s+(.*)$/.exec(line)?.[1];
    // A list of short notes is many notes.
    if (title !== undefined || isItem(line) || line.trim() === '') end();
    if (title !== undefined) heading = title.trim();
    else if (line.trim() !== '') lines.push(line);
  }
  end();
  return found;
}

function isItem(line: string): boolean {
  return /^[-*+] /.test(line);
}
