import { isGroupFile } from '../group-memory.ts';
import type { MemoryEntry, MemoryScope } from './memory-entry.ts';
import { parseMemoryFile } from './memory-file.ts';

/** What a found text is. */
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

/** The files of the owner's memories, by scope. */
export const SAVED_FILES: Readonly<Record<MemoryScope, string>> = {
  user: 'memory/user.md',
  project: 'memory/project.md',
  session: 'memory/session.md',
};

/** What lines of a file are about when they do not say so themselves; null: no file of memories. */
export function scopeOfFile(name: string): MemoryScope | null {
  if (isGroupFile(name)) return 'project';
  if (name === SAVED_FILES.user) return 'user';
  if (name === SAVED_FILES.project) return 'project';
  return name === SAVED_FILES.session ? 'session' : null;
}

/** Longest passage, in characters; longer sections are cut into several. */
const LONGEST = 1_200;

/** Cuts a file into what can be found by itself: memories line by line, everything else by sections. */
export function passagesOf(name: string, text: string): readonly Passage[] {
  const scope = scopeOfFile(name);
  if (scope === null) {
    const kind = name.startsWith('knowledge/') ? 'knowledge' : 'note';
    return sections(text).map((section) => ({ kind, ...section }));
  }
  return parseMemoryFile(text, scope).map((entry) => {
    return { kind: 'saved', text: entry.text, heading: '', entry };
  });
}

function sections(text: string): readonly Pick<Passage, 'text' | 'heading'>[] {
  const found: { text: string; heading: string }[] = [];
  let heading = '';
  let lines: string[] = [];
  const end = (): void => {
    const body = lines.join('\n').trim();
    lines = [];
    for (let at = 0; at < body.length; at += LONGEST) {
      found.push({
        heading,
        text: body
          .slice(at, at + LONGEST)
          .toWellFormed()
          .trim(),
      });
    }
  };
  for (const line of text.split('\n')) {
    const title = /^#{1,6}\s+(.*)$/.exec(line)?.[1];
    // A list of short notes is many notes.
    const isItem = /^[-*+] /.test(line);
    if (title !== undefined || isItem || line.trim() === '') end();
    if (title !== undefined) heading = title.trim();
    else if (line.trim() !== '') lines.push(line);
  }
  end();
  return found;
}
