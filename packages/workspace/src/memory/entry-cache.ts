import { BoundedMap } from '@parley/contracts';
import type { MemoryEntry } from './memory-entry.ts';
import { parseMemoryFile } from './memory-file.ts';
import { scopeOfFile } from './passages.ts';

/** The memories of files that were read a moment ago, so that each turn looks into new lines only. */
export interface EntryCache {
  /** The memories of this very text, in its order. */
  of(name: string, text: string): readonly MemoryEntry[];
}

interface Known {
  readonly text: string;
  readonly entries: readonly MemoryEntry[];
  readonly lines: ReadonlyMap<string, readonly MemoryEntry[]>;
}

/** Files that are kept: the owner's few, and those of the conversations of late. */
const FILES = 50;

/** An empty one. */
export function entryCache(): EntryCache {
  const known = new BoundedMap<string, Known>(FILES);
  return {
    of(name, text) {
      const before = known.get(name);
      if (before?.text === text) return before.entries;
      const scope = scopeOfFile(name) ?? 'project';
      const lines = new Map<string, readonly MemoryEntry[]>();
      const entries = text.split('\n').flatMap((line) => {
        const found = before?.lines.get(line) ?? parseMemoryFile(line, scope);
        lines.set(line, found);
        return found;
      });
      known.set(name, { text, entries, lines });
      return entries;
    },
  };
}
