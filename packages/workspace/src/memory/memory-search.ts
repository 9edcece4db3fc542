import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { BoundedMap, type Monotonic, type PromptPart, type Reader, systemTime } from '@parley/core';
import type { Workspace } from '../open-workspace.ts';
import { createMarkdownLister, FoundFile } from '../paths.ts';
import type { WorkspaceView } from '../workspace-view.ts';
import { type MemoryEntry, SAVED_FILES } from './memory-file.ts';
import { PassageIndex, type PassageKind, type PassageMatch, toPassage } from './passage-index.ts';
import { listQueryWords, type QueryWord } from './search-words.ts';

/** A passage found for a query. */
export interface MemoryHit extends PromptPart {
  readonly kind: PassageKind;
  readonly heading: string;
  readonly entry?: MemoryEntry;
  readonly score: number;
  /** Whether the passage is about the query, rather than only sharing a word with it. */
  readonly isClear: boolean;
}

/** The conversation and session in which the query was made. */
export interface SearchScope {
  readonly conversation: string;
  readonly session: number;
}

/** The maximum number of conversations whose memory files are indexed at a time. */
const CONVERSATIONS = 100;
/**
 * How many additional hits are read, because some hits may have been removed or belong to other
 * sessions.
 */
const SPARE = 5;

/** Finds memories on behalf of one reader at a time (G14). */
export type MemorySearch = ReturnType<typeof openMemorySearch>;

/**
 * Opens a workspace's indexes: one for owners, one for guests, and one for each conversation's
 * memory file.
 */
export function openMemorySearch(
  workspace: Pick<Workspace, 'folder' | 'for'>,
  monotonic: Monotonic = systemTime.monotonic,
) {
  const { folder } = workspace;
  const indexFor = (
    reader: Reader,
    names: () => Promise<readonly string[]>,
    always: readonly string[],
  ): FileIndex => {
    const view = workspace.for(reader);
    return new FileIndex({ folder, names, always, view, monotonic });
  };
  const list = createMarkdownLister();
  const within = async (name: string): Promise<readonly string[]> =>
    (await list(join(folder, name))).map((file) => `${name}/${file}`);
  // The first two do not belong to a conversation, because they return the same passages to every
  // reader of the same kind.
  const none = { conversationId: '' };
  const shared = {
    owner: indexFor(
      { kind: 'owner', ...none },
      async () => ['MEMORY.md', ...(await within('memory')), ...(await within('knowledge'))],
      ['MEMORY.md', ...Object.values(SAVED_FILES)],
    ),
    guest: indexFor({ kind: 'guest', ...none }, () => within('knowledge'), []),
  };
  const own = new BoundedMap<string, FileIndex>(CONVERSATIONS);
  const ownOf = ({ reader, groupMemory }: WorkspaceView): FileIndex => {
    const known = own.get(groupMemory);
    if (known !== undefined) return known;
    const { conversationId } = reader;
    const made = indexFor({ kind: 'guest', conversationId }, async () => [groupMemory], []);
    own.set(groupMemory, made);
    return made;
  };
  return {
    /**
     * Finds the best `most` passages, best first. Each one is read through `view`; the index only
     * provides the location. Memories from other sessions are omitted.
     */
    async find(
      view: WorkspaceView,
      question: string,
      { most, ...place }: SearchScope & { readonly most: number },
    ): Promise<readonly MemoryHit[]> {
      let known: readonly QueryWord[] | undefined;
      const words = () => (known ??= listQueryWords(question));
      const wanted = most * 2 + SPARE;
      const found = await Promise.all([
        shared[view.reader.kind].search(words, wanted),
        ownOf(view).search(words, wanted),
      ]);
      const pieces = found.flat().sort((one, other) => other.score - one.score);
      return resolveMemoryHits(view, pieces, place, most);
    },
  };
}

/**
 * Checks the pieces through the view, omitting those that this reader may not see or that no longer
 * exist.
 */
async function resolveMemoryHits(
  view: WorkspaceView,
  found: readonly PassageMatch[],
  at: SearchScope,
  most: number,
): Promise<readonly MemoryHit[]> {
  const hits = new Map<string, MemoryHit>();
  for (const { piece, score, coverage, rarity } of found) {
    if (hits.size === most) break;
    const { name, text } = piece.file;
    const file = await view.read(name, Number.MAX_SAFE_INTEGER);
    const passage = toPassage(name, piece);
    if (file.kind === 'absent' || passage === null || hits.has(passage.text)) continue;
    // The file may have changed since it was indexed.
    const isSaid = (words: string) => file.text === text || file.text.includes(words);
    if (!isSaid(piece.raw) || !isSaid(piece.heading)) continue;
    if (isOutOfSession(passage.entry, at)) continue;
    const { source, audience } = file;
    const isAbout = isStrongMatch(coverage, rarity);
    hits.set(passage.text, { ...passage, source, audience, score, isClear: isAbout });
  }
  return [...hits.values()];
}

/**
 * Whether a passage matches most of the query, or one of its rare words and a fair part of the
 * rest.
 */
function isStrongMatch(coverage: number, rarity: number): boolean {
  return (coverage >= 0.5 && rarity >= 1.3) || (rarity >= 2 && coverage >= 0.2);
}

/** True for a memory from a session that has ended, or from another chat. */
export function isOutOfSession(entry: MemoryEntry | undefined, at: SearchScope): boolean {
  if (entry?.scope !== 'session' || entry.from === null) return false;
  return entry.from.conversation !== at.conversation || entry.from.session !== at.session;
}

interface FileIndexOptions {
  /** The real path of the workspace. */
  readonly folder: string;
  /** Lists the files that the index currently covers. */
  readonly names: () => Promise<readonly string[]>;
  /** Files that every search checks, regardless of how many other files exist. */
  readonly always: readonly string[];
  /** The view through which the index reads files. */
  readonly view: WorkspaceView;
  readonly monotonic: Monotonic;
}

/** The duration in ms of the longest check of the files for which a search waits. */
const SHORT_CHECK_MS = 8;
/**
 * A longer check is repeated only after this many times its duration has passed, so that thousands
 * of files cost at most 5 % of the time.
 */
const REST = 20;
/** The number of files checked before yielding to the event loop. */
const AT_ONCE = 200;

/**
 * The passages in a set of files, kept up to date with the disk. Each search first checks the files
 * and rereads those that have changed (W07). If there are so many files that the check takes long,
 * it runs in the background, and a manual change may be found a second or two later. Files that
 * Parley itself writes are in `always`, so their changes are found immediately.
 */
class FileIndex {
  readonly #options: FileIndexOptions;
  readonly #passages = new PassageIndex();
  readonly #fingerprints = new Map<string, string>();
  #checking: Promise<void> | null = null;
  #nextCheck = 0;
  #isLong = false;

  constructor(options: FileIndexOptions) {
    this.#options = options;
  }

  /** Finds the best passages, best first; `words` is called only if the index is not empty. */
  async search(words: () => readonly QueryWord[], most: number): Promise<readonly PassageMatch[]> {
    // Searches that start during a check wait for that check.
    if (this.#checking === null && this.#options.monotonic() >= this.#nextCheck) {
      this.#checking = this.#check();
      // Searches that do not wait for the check ignore its error; the next search checks again, and
      // waits.
      this.#checking.catch(() => {
        this.#isLong = false;
      });
    }
    if (!this.#isLong) await this.#checking;
    else for (const name of this.#options.always) await this.#update(name);
    return this.#passages.size === 0 ? [] : this.#passages.search(words(), most);
  }

  async #check(): Promise<void> {
    const { monotonic } = this.#options;
    const start = monotonic();
    // The first check reads all files, so its duration is ignored.
    const isFirst = this.#fingerprints.size === 0;
    try {
      await this.#refresh();
      this.#isLong = !isFirst && monotonic() - start > SHORT_CHECK_MS;
    } finally {
      this.#checking = null;
      const end = monotonic();
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
    const fingerprint = fingerprintFile(this.#options.folder, name);
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

/** Returns null if the file does not exist; the view decides whether it may be read. */
function fingerprintFile(folder: string, name: string): string | null {
  try {
    const stats = lstatSync(`${folder}/${name}`, { bigint: true, throwIfNoEntry: false });
    if (stats === undefined || !stats.isFile()) return null;
    return new FoundFile(stats).fingerprint;
  } catch {
    // A file whose metadata is inaccessible cannot be read either.
    return null;
  }
}
