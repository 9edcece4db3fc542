import { join } from 'node:path';
import { BoundedMap, type PromptPart, type Reader } from '@parley/contracts';
import type { Workspace } from '../open-workspace.ts';
import { markdownLister } from '../paths.ts';
import type { AbsentFile, WorkspaceFile, WorkspaceView } from '../workspace-view.ts';
import { createFileIndex, type FileIndex, type FoundPlace } from './file-index.ts';
import type { MemoryEntry } from './memory-file.ts';
import { type PassageKind, type Piece, passageOf, piecesOf, SAVED_FILES } from './passages.ts';
import { type QueryWord, queryWords } from './search-words.ts';

/** Something that was found for a question. */
export interface MemoryHit extends PromptPart {
  readonly kind: PassageKind;
  readonly heading: string;
  readonly entry?: MemoryEntry;
  readonly score: number;
  /** It has to do with the question, and does not only share a word with it. */
  readonly isClear: boolean;
}

/** Where somebody asks. */
export interface SearchPlace {
  readonly conversation: string;
  readonly session: number;
}

/** Finds what was remembered, for one reader at a time (G14). */
export interface MemorySearch {
  /**
   * The best `most` passages, best first. What comes out was read through `view` just now: the index
   * only says where to look. Memories of other sessions are left out.
   */
  find(
    view: WorkspaceView,
    question: string,
    options: SearchPlace & { readonly most: number },
  ): Promise<readonly MemoryHit[]>;
}

/** Most passages of one index; 10,000 take about 15 MB. */
const MOST_PASSAGES = 50_000;
/** Most memory files of conversations whose words are kept. */
const CONVERSATIONS = 100;
/** More places than wanted are looked at, because some are gone or belong to other sessions. */
const SPARE = 5;

/** The index of a workspace: one for owners, one for everybody else, one for each conversation's file. */
export function openMemorySearch(
  workspace: Pick<Workspace, 'folder' | 'for'>,
  clock: () => number = () => performance.now(),
): MemorySearch {
  const { folder } = workspace;
  const indexFor = (
    reader: Reader,
    names: () => Promise<readonly string[]>,
    always: readonly string[],
  ): FileIndex => {
    const view = workspace.for(reader);
    return createFileIndex({ folder, names, always, view, mostPassages: MOST_PASSAGES, clock });
  };
  const list = markdownLister();
  // Nobody's conversation: what these find is the same for each reader of their kind.
  const nobody = { conversationId: '' };
  const shared = {
    owner: indexFor(
      { kind: 'owner', ...nobody },
      () => namesIn(list, folder, ['memory', 'knowledge']),
      ['MEMORY.md', ...Object.values(SAVED_FILES)],
    ),
    guest: indexFor({ kind: 'guest', ...nobody }, () => namesIn(list, folder, ['knowledge']), []),
  };
  const own = new BoundedMap<string, FileIndex>(CONVERSATIONS);
  const pieces = pieceCache();
  const ownOf = ({ reader, groupMemory }: WorkspaceView): FileIndex => {
    const known = own.get(groupMemory);
    if (known !== undefined) return known;
    const { conversationId } = reader;
    const made = indexFor({ kind: 'guest', conversationId }, async () => [groupMemory], []);
    own.set(groupMemory, made);
    return made;
  };
  return {
    async find(view, question, { most, ...place }) {
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

/** Reads the places again as this reader: what they may not see, or what is gone, is not there. */
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
    const piece = file.kind === 'file' ? pieces.of(name, file.text)[nth] : undefined;
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

/** What was meant for a session that has ended, or for another chat. */
export function isOver(entry: MemoryEntry | undefined, at: SearchPlace): boolean {
  if (entry?.scope !== 'session' || entry.from === null) return false;
  return entry.from.conversation !== at.conversation || entry.from.session !== at.session;
}

/** The pieces of files that were read a moment ago. */
export interface PieceCache {
  /** The pieces of this very text; it is compared, so whoever has the text may have its pieces. */
  of(name: string, text: string): readonly Piece[];
}

/** Large files whose pieces are kept; what is asked for longest ago makes room. */
const LARGE_FILES = 32;
/** Shorter files are cut as fast as they are found here, in characters. */
const SHORT = 8_000;

/** An empty one. */
function pieceCache(): PieceCache {
  const known = new BoundedMap<
    string,
    { readonly text: string; readonly pieces: readonly Piece[] }
  >(LARGE_FILES);
  return {
    of(name, text) {
      if (text.length < SHORT) return piecesOf(name, text);
      const before = known.get(name);
      const pieces = before?.text === text ? before.pieces : piecesOf(name, text);
      known.set(name, { text, pieces });
      return pieces;
    },
  };
}
