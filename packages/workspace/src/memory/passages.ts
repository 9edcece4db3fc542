import { type MemoryEntry, parseMemoryFile, scopeOfFile } from './memory-file.ts';

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

/** A longer section is cut into several passages. */
const PIECE = /[\s\S]{1,1200}/gu;

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
    for (const raw of body.match(PIECE) ?? []) found.push({ heading, raw: raw.trim() });
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
