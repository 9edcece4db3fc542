import { join } from 'node:path';
import { BoundedMap, type PromptPart, type Reader } from '@parley/contracts';
import type { Workspace } from '../open-workspace.ts';
import { markdownLister } from '../paths.ts';
import type { AbsentFile, WorkspaceFile, WorkspaceView } from '../workspace-view.ts';
import {
  FileIndex,
  type FoundPlace,
  type PassageKind,
  type Piece,
  passageOf,
  piecesOf,
} from './file-index.ts';
import { type MemoryEntry, SAVED_FILES } from './memory-file.ts';
import { type QueryWord, queryWords } from './search-words.ts';

/** A passage found for a question. */
export interface MemoryHit extends PromptPart {
  readonly kind: PassageKind;
  readonly heading: string;
  readonly entry?: MemoryEntry;
  readonly score: number;
  /** It is about the question, and does not only share a word with it. */
  readonly isClear: boolean;
}

/** Where the question is asked. */
export interface SearchPlace {
  readonly conversation: string;
  readonly session: number;
}

/** Most passages of one index; 10,000 take about 15 MB. */
const MOST_PASSAGES = 50_000;
/** Conversations whose memory files are indexed at a time. */
const CONVERSATIONS = 100;
/** More places than wanted are read, because some are gone or belong to other sessions. */
const SPARE = 5;

/** Finds memories for one reader at a time (G14). */
export type MemorySearch = ReturnType<typeof openMemorySearch>;

/** Opens the indexes of a workspace: one for owners, one for guests, one for each conversation's file. */
export function openMemorySearch(
  workspace: Pick<Workspace, 'folder' | 'for'>,
  clock: () => number = () => performance.now(),
) {
  const { folder } = workspace;
  const indexFor = (
    reader: Reader,
    names: () => Promise<readonly string[]>,
    always: readonly string[],
  ): FileIndex => {
    const view = workspace.for(reader);
    return new FileIndex({ folder, names, always, view, mostPassages: MOST_PASSAGES, clock });
  };
  const list = markdownLister();
  // No conversation: what these find is the same for each reader of their kind.
  const none = { conversationId: '' };
  const shared = {
    owner: indexFor(
      { kind: 'owner', ...none },
      () => namesIn(list, folder, ['memory', 'knowledge']),
      ['MEMORY.md', ...Object.values(SAVED_FILES)],
    ),
    guest: indexFor({ kind: 'guest', ...none }, () => namesIn(list, folder, ['knowledge']), []),
  };
  const own = new BoundedMap<string, FileIndex>(CONVERSATIONS);
  const pieces: PieceCache = new BoundedMap(LARGE_FILES);
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
     * The best `most` passages, best first, all of them read through `view` just now: the index only
     * says where. Memories of other sessions are left out.
     */
    async find(
      view: WorkspaceView,
      question: string,
      { most, ...place }: SearchPlace & { readonly most: number },
    ): Promise<readonly MemoryHit[]> {
      let known: readonly QueryWord[] | undefined;
      const words = () => (known ??= queryWords(question));
      const wanted = most * 2 + SPARE;
      const found = await Promise.all([
        shared[view.reader.kind].search(words, wanted),
        ownOf(view).search(words, wanted),
      ]);
      const places = found.flat().sort((one, other) => other.score - one.score);
      return readHits({ view, pieces }, places, place, most);
    },
  };
}

async function namesIn(
  list: (folder: string) => Promise<readonly string[]>,
  folder: string,
  inside: readonly string[],
): Promise<readonly string[]> {
  const lists = await Promise.all(
    inside.map(async (name) => {
      const below = await list(join(folder, name));
      return below.map((file) => `${name}/${file}`);
    }),
  );
  return [...(inside.includes('memory') ? ['MEMORY.md'] : []), ...lists.flat()];
}

/** Reads the places through the view: what this reader may not see, or what is gone, is left out. */
async function readHits(
  { view, pieces }: { readonly view: WorkspaceView; readonly pieces: PieceCache },
  places: readonly FoundPlace[],
  at: SearchPlace,
  most: number,
): Promise<readonly MemoryHit[]> {
  const hits: MemoryHit[] = [];
  const seen = new Set<string>();
  const files = new Map<string, WorkspaceFile | AbsentFile>();
  for (const { name, nth, score, coverage, rarity } of places) {
    if (hits.length === most) break;
    const file = files.get(name) ?? (await view.read(name, Number.MAX_SAFE_INTEGER));
    files.set(name, file);
    const piece = file.kind === 'file' ? cachedPieces(pieces, name, file.text)[nth] : undefined;
    if (file.kind === 'absent' || piece === undefined) continue;
    const passage = passageOf(name, piece);
    if (passage === null || seen.has(passage.text) || isOver(passage.entry, at)) continue;
    seen.add(passage.text);
    const { source, audience } = file;
    hits.push({ ...passage, source, audience, score, isClear: isClear(coverage, rarity) });
  }
  return hits;
}

/** Most of what the question is about, or a rare word of it and not next to nothing of the rest. */
function isClear(coverage: number, rarity: number): boolean {
  return (coverage >= 0.5 && rarity >= 1.3) || (rarity >= 2 && coverage >= 0.2);
}

/** True for a memory of a session that has ended, or of another chat. */
export function isOver(entry: MemoryEntry | undefined, at: SearchPlace): boolean {
  if (entry?.scope !== 'session' || entry.from === null) return false;
  return entry.from.conversation !== at.conversation || entry.from.session !== at.session;
}

/** The pieces of large files with the texts they come from. */
type PieceCache = BoundedMap<string, { readonly text: string; readonly pieces: readonly Piece[] }>;

/** Large files whose pieces are cached. */
const LARGE_FILES = 32;
/** Shorter files are cut as fast as they are found in the cache, in characters. */
const SHORT = 8_000;

/** The pieces of exactly this text, so that only a caller who may read the text gets them. */
function cachedPieces(cache: PieceCache, name: string, text: string): readonly Piece[] {
  if (text.length < SHORT) return piecesOf(name, text);
  const before = cache.get(name);
  const pieces = before?.text === text ? before.pieces : piecesOf(name, text);
  cache.set(name, { text, pieces });
  return pieces;
}
