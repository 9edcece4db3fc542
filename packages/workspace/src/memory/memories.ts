import type { WorkspaceView } from '../workspace-view.ts';
import type { WriteApproval } from '../write-rules.ts';
import { type EntryCache, entryCache } from './entry-cache.ts';
import type { MemoryEntry } from './memory-entry.ts';
import { withEntry, withoutEntries } from './memory-file.ts';
import { VERSIONS_FOLDER } from './memory-versions.ts';
import { SAVED_FILES, scopeOfFile } from './passages.ts';

/** A memory and the file it stands in. */
export interface SavedMemory {
  readonly name: string;
  readonly entry: MemoryEntry;
}

/** What became of a saving. */
export type SaveResult =
  | { readonly kind: 'saved'; readonly name: string; readonly entry: MemoryEntry }
  /** The same stands there already. */
  | { readonly kind: 'known'; readonly name: string; readonly entry: MemoryEntry }
  | { readonly kind: 'refused'; readonly detail: string };

/** What was taken out of the files, and what could not be. */
export interface Removal {
  readonly memories: readonly SavedMemory[];
  /** Lines of other notes, by file. */
  readonly lines: readonly { readonly name: string; readonly count: number }[];
  /** Files that could not be written, with the reason. */
  readonly failed: readonly { readonly name: string; readonly detail: string }[];
}

/** The memories that lie in the workspace; the files are the truth and may be edited by hand. */
export interface Memories {
  /** Those that this reader may see, oldest first in each file. */
  list(view: WorkspaceView): Promise<readonly SavedMemory[]>;
  /**
   * Puts one where it belongs: an owner's into `memory/`, anybody else's into the file of their
   * conversation, which nobody else can read (W02, W04).
   */
  save(view: WorkspaceView, entry: MemoryEntry): Promise<SaveResult>;
  /** Takes memories out, and from an owner's other notes each line that `inNotes` names. */
  remove(
    view: WorkspaceView,
    isMeant: (memory: SavedMemory) => boolean,
    inNotes: (line: string) => boolean,
  ): Promise<Removal>;
}

/** `/forget` is a person's own, and only takes away. */
const BY_COMMAND: WriteApproval = { by: 'command' };
const WHOLE = Number.MAX_SAFE_INTEGER;

/** Makes one for a workspace. */
export function openMemories(): Memories {
  const entries = entryCache();
  return {
    list: (view) => listMemories(entries, view),
    save: (view, entry) => saveMemory(entries, view, entry),
    remove: (view, isMeant, inNotes) => removeFrom(entries, view, isMeant, inNotes),
  };
}

async function listMemories(
  entries: EntryCache,
  view: WorkspaceView,
): Promise<readonly SavedMemory[]> {
  const lists = await Promise.all(
    filesOf(view).map(async (name) => {
      const text = await textOf(view, name);
      const found = text === null ? [] : entries.of(name, text);
      return found.map((entry) => ({ name, entry }));
    }),
  );
  return lists.flat();
}

async function saveMemory(
  entries: EntryCache,
  view: WorkspaceView,
  entry: MemoryEntry,
): Promise<SaveResult> {
  const name = view.reader.kind === 'owner' ? SAVED_FILES[entry.scope] : view.groupMemory;
  const before = await listMemories(entries, view);
  const known = before.find((memory) => isSame(memory.entry, entry));
  if (known !== undefined) return { kind: 'known', ...known };
  let twin: MemoryEntry | undefined;
  const written = await view.change(name, (text) => {
    // Another process may have been faster with the same.
    twin = entries.of(name, text ?? '').find((one) => isSame(one, entry));
    return twin === undefined ? withEntry(text, entry) : null;
  });
  if (written.kind === 'refused') return { kind: 'refused', detail: written.detail };
  return twin === undefined ? { kind: 'saved', name, entry } : { kind: 'known', name, entry: twin };
}

/** Said by the same person in the same words, or the same saving once more. */
function isSame(known: MemoryEntry, entry: MemoryEntry): boolean {
  if (known.id === entry.id) return true;
  const isAlike = known.text.toLowerCase() === entry.text.toLowerCase();
  return isAlike && known.person === entry.person && known.scope === entry.scope;
}

async function removeFrom(
  entries: EntryCache,
  view: WorkspaceView,
  isMeant: (memory: SavedMemory) => boolean,
  inNotes: (line: string) => boolean,
): Promise<Removal> {
  const memories = (await listMemories(entries, view)).filter(isMeant);
  const lines: { name: string; count: number }[] = [];
  const failed: { name: string; detail: string }[] = [];
  for (const name of await changeable(view)) {
    const ids = new Set(memories.filter((one) => one.name === name).map(({ entry }) => entry.id));
    const scope = scopeOfFile(name);
    let count = 0;
    const result = await view.change(
      name,
      (text) => {
        if (text === null) return null;
        const kept =
          scope === null ? withoutLines(text, inNotes) : withoutEntries(text, scope, ids);
        count = linesOf(text) - linesOf(kept);
        return kept === text ? null : kept;
      },
      BY_COMMAND,
    );
    if (result.kind === 'refused') failed.push({ name, detail: result.detail });
    else if (scope === null && count > 0) lines.push({ name, count });
  }
  const old = await view.versions?.forget(inNotes);
  if (old !== undefined && old.count > 0) lines.push({ name: VERSIONS_FOLDER, count: old.count });
  failed.push(...(old?.failed ?? []));
  const isGone = ({ name }: SavedMemory) => failed.every((one) => one.name !== name);
  return { memories: memories.filter(isGone), lines, failed };
}

function withoutLines(text: string, isMeant: (line: string) => boolean): string {
  return text
    .split('\n')
    .filter((line) => !isMeant(line))
    .join('\n');
}

/** The files of memories, and an owner's notes beside them. */
async function changeable(view: WorkspaceView): Promise<readonly string[]> {
  if (view.reader.kind !== 'owner') return filesOf(view);
  const all = (await view.list()).map(({ name }) => name);
  const notes = all.filter((name) => /^(?:memory\/|MEMORY\.md$)/i.test(name));
  return [...new Set([...filesOf(view), ...notes])];
}

function filesOf(view: WorkspaceView): readonly string[] {
  const owners = view.reader.kind === 'owner' ? Object.values(SAVED_FILES) : [];
  return [...owners, view.groupMemory];
}

async function textOf(view: WorkspaceView, name: string): Promise<string | null> {
  const file = await view.read(name, WHOLE);
  return file.kind === 'file' ? file.text : null;
}

function linesOf(text: string): number {
  return text.split('\n').length;
}
