import { BoundedMap } from '@parley/core';
import { isMemoryFile } from '../audience.ts';
import type { WorkspaceView } from '../workspace-view.ts';
import type { WriteApproval } from '../write-rules.ts';
import {
  addMemoryEntry,
  getFileScope,
  type MemoryEntry,
  type MemoryType,
  parseMemoryFile,
  removeMemoryEntries,
  SAVED_FILES,
} from './memory-file.ts';
import { VERSIONS_FOLDER } from './memory-versions.ts';

/** A memory with its file. */
export interface SavedMemory {
  readonly name: string;
  readonly entry: MemoryEntry;
}

/** `known` means that the memory already exists. */
export type SaveResult =
  | ({ readonly kind: 'saved' | 'known' } & SavedMemory)
  | { readonly kind: 'refused'; readonly detail: string };

/** The memories that were removed from files, and the files that could not be written. */
export interface MemoryRemoval {
  readonly memories: readonly SavedMemory[];
  /** The number of lines removed from other notes, by file. */
  readonly lines: readonly { readonly name: string; readonly count: number }[];
  /** Files that could not be written, with the reason. */
  readonly failed: readonly { readonly name: string; readonly detail: string }[];
}

/** The approval for `/forget`, a person's own command that only removes text. */
const BY_COMMAND: WriteApproval = { by: 'command' };
const WHOLE = Number.MAX_SAFE_INTEGER;

/** The memories in a workspace's files; the files are authoritative and may be edited by hand. */
export class MemoryFiles {
  readonly #entries = new EntryCache();

  /** Lists the memories that this reader may see, oldest first in each file. */
  async list(view: WorkspaceView): Promise<readonly SavedMemory[]> {
    const lists = await Promise.all(
      listVisibleMemoryFiles(view).map(async (name) => {
        const file = await view.read(name, WHOLE);
        const found = file.kind === 'file' ? this.#entries.of(name, file.text) : [];
        return found.map((entry) => ({ name, entry }));
      }),
    );
    return lists.flat();
  }

  /**
   * Saves an owner's memory in `memory/`, and other memories in the file of their conversation,
   * which other readers cannot see (W02, W04).
   */
  async save(view: WorkspaceView, entry: MemoryEntry): Promise<SaveResult> {
    const name = view.reader.kind === 'owner' ? SAVED_FILES[entry.scope] : view.groupMemory;
    const known = (await this.list(view)).find((memory) => isSameMemory(memory.entry, entry));
    if (known !== undefined) return { kind: 'known', ...known };
    let twin: MemoryEntry | undefined;
    const written = await view.change(name, (text) => {
      // Another process may have saved the same memory in the meantime.
      twin = this.#entries.of(name, text ?? '').find((one) => isSameMemory(one, entry));
      return twin === undefined ? addMemoryEntry(text, entry) : null;
    });
    if (written.kind === 'refused') return { kind: 'refused', detail: written.detail };
    return { kind: twin === undefined ? 'saved' : 'known', name, entry: twin ?? entry };
  }

  /** Removes memories, and all lines in an owner's other notes that match `inNotes`. */
  async remove(
    view: WorkspaceView,
    isMeant: (memory: SavedMemory) => boolean,
    inNotes: (line: string) => boolean,
  ): Promise<MemoryRemoval> {
    const memories = (await this.list(view)).filter(isMeant);
    const lines: { name: string; count: number }[] = [];
    const failed: { name: string; detail: string }[] = [];
    for (const name of await listChangeableFiles(view)) {
      const ids = new Set(memories.filter((one) => one.name === name).map(({ entry }) => entry.id));
      const scope = getFileScope(name);
      let count = 0;
      const shortened = (text: string | null) => {
        if (text === null) return null;
        const kept =
          scope === null ? removeLines(text, inNotes) : removeMemoryEntries(text, scope, ids);
        count = countLines(text) - countLines(kept);
        return kept === text ? null : kept;
      };
      const result = await view.change(name, shortened, BY_COMMAND);
      if (result.kind === 'refused') failed.push({ name, detail: result.detail });
      else if (scope === null && count > 0) lines.push({ name, count });
    }
    const old = await view.versions?.forget((text) => removeLines(text, inNotes));
    if (old !== undefined && old.count > 0) lines.push({ name: VERSIONS_FOLDER, count: old.count });
    failed.push(...(old?.failed ?? []), ...(await forgetVersions(view, memories, inNotes)));
    const isGone = ({ name }: SavedMemory) => failed.every((one) => one.name !== name);
    return { memories: memories.filter(isGone), lines, failed };
  }
}

/**
 * Removes the same text from earlier versions and returns the failures; in a chat, this covers only
 * versions of the chat's own file.
 */
async function forgetVersions(
  { reader, groupMemory, history }: WorkspaceView,
  memories: readonly SavedMemory[],
  inNotes: (line: string) => boolean,
): Promise<MemoryRemoval['failed']> {
  const shorten = (file: string, text: string): string => {
    const scope = getFileScope(file);
    const own = memories.filter(({ name }) => name === file).map(({ entry }) => entry.id);
    const kept = scope === null ? text : removeMemoryEntries(text, scope, new Set(own));
    return removeLines(kept, inNotes);
  };
  const isMeant = (file: string) => reader.kind === 'owner' || file === groupMemory;
  return (await history?.forget(shorten, isMeant))?.failed ?? [];
}

/** Whether two entries have the same text from the same person, or come from the same call. */
function isSameMemory(known: MemoryEntry, entry: MemoryEntry): boolean {
  if (known.id === entry.id) return true;
  const isAlike = known.text.toLowerCase() === entry.text.toLowerCase();
  return isAlike && known.person === entry.person && known.scope === entry.scope;
}

function removeLines(text: string, isMeant: (line: string) => boolean): string {
  const kept = text.split('\n').filter((line) => !isMeant(line));
  return kept.join('\n');
}

/** Lists the files that contain memories, and the owner's notes. */
async function listChangeableFiles(view: WorkspaceView): Promise<readonly string[]> {
  if (view.reader.kind !== 'owner') return listVisibleMemoryFiles(view);
  const all = (await view.list()).map(({ name }) => name);
  const notes = all.filter((name) => isMemoryFile(name));
  return [...new Set([...listVisibleMemoryFiles(view), ...notes])];
}

function listVisibleMemoryFiles(view: WorkspaceView): readonly string[] {
  const owners = view.reader.kind === 'owner' ? Object.values(SAVED_FILES) : [];
  return [...owners, view.groupMemory];
}

function countLines(text: string): number {
  return text.split('\n').length;
}

/**
 * The number of files whose memories are cached: the owner's few files, and those of recent
 * conversations.
 */
const FILES = 50;

/** Caches the memories of recently read files, so that each turn parses only new lines. */
class EntryCache {
  readonly #files = new BoundedMap<
    string,
    {
      readonly text: string;
      readonly entries: readonly MemoryEntry[];
      readonly lines: ReadonlyMap<string, readonly MemoryEntry[]>;
    }
  >(FILES);

  /** Returns the memories in this text, in order. */
  of(name: string, text: string): readonly MemoryEntry[] {
    const before = this.#files.get(name);
    if (before?.text === text) return before.entries;
    const scope = getFileScope(name) ?? 'project';
    const lines = new Map<string, readonly MemoryEntry[]>();
    const entries = text.split('\n').flatMap((line) => {
      const found = before?.lines.get(line) ?? parseMemoryFile(line, scope);
      lines.set(line, found);
      return found;
    });
    this.#files.set(name, { text, entries, lines });
    return entries;
  }
}

/** How often each memory was useful, by memory id. */
export type MemoryUses = ReadonlyMap<string, number>;

/** The maximum length of a profile, in characters. */
const MAX_PROFILE_CHARACTERS = 600;

/**
 * The number of memories that may be too long for the remaining space before the search for a
 * shorter one ends.
 */
const TRIED = 10;

const TITLES: Readonly<Record<MemoryType, string>> = {
  constraint: 'Rules',
  preference: 'Preferences',
  habit: 'Habits',
  skill: 'Skills',
  fact: 'Facts',
};

const ORDER: readonly MemoryType[] = ['constraint', 'preference', 'habit', 'skill', 'fact'];

/**
 * Summarizes memories without a model (G14): grouped by type, with the newest and most frequently
 * used first in each group; returns null if there are no memories. The agent's own notes are
 * marked.
 */
export function summarizeProfile(entries: readonly MemoryEntry[], uses: MemoryUses): string | null {
  const ranked = rankMemories(entries, uses);
  const chosen: MemoryEntry[] = [];
  let tooLong = 0;
  for (const entry of ranked) {
    const next = [...chosen, entry];
    if (formatMemories(next).length <= MAX_PROFILE_CHARACTERS) chosen.push(entry);
    else tooLong += 1;
    if (tooLong === TRIED) break;
  }
  return chosen.length === 0 ? null : formatMemories(chosen);
}

/**
 * One use counts as much as being newer by one position. Files list the oldest memory first, so the
 * position shows the age.
 */
function rankMemories(entries: readonly MemoryEntry[], uses: MemoryUses): readonly MemoryEntry[] {
  return entries
    .map((entry, at) => {
      const rule = entry.type === 'constraint' ? entries.length : 0;
      return { entry, weight: at + rule + Math.min(uses.get(entry.id) ?? 0, 20) };
    })
    .sort((one, other) => other.weight - one.weight)
    .map(({ entry }) => entry);
}

function formatMemories(entries: readonly MemoryEntry[]): string {
  return ORDER.flatMap((type) => {
    const texts = entries
      .filter((entry) => entry.type === type)
      .map(({ text, words }) => (words === 'agent' ? `${text} (my own note)` : text));
    return texts.length === 0 ? [] : [`${TITLES[type]}: ${texts.join(' · ')}`];
  }).join('\n');
}
