import { toMemoryLine, type WorkspaceView } from '@parley/workspace';
import { getDayBefore } from '../context/yesterday-source.ts';
import { getAuthoredText } from '../memory/memory-triggers.ts';

/** A part of MEMORY.md that can be removed: a list item with the lines indented below it. */
export interface MemoryItem {
  /** The id, `M1`, `M2` … from the top, which is valid only for this version of the text. */
  readonly id: string;
  readonly text: string;
  /** The range of lines in the file, counted from 0; `to` is exclusive. */
  readonly from: number;
  readonly to: number;
  /** The date at the beginning of the item, if any. */
  readonly date: string | null;
  /** Whether the item is in the section that upkeep maintains. */
  readonly isOwn: boolean;
}

export interface MemoryPage {
  readonly lines: readonly string[];
  readonly items: readonly MemoryItem[];
}

/** The section to which upkeep adds lines; people write the rest of the file. */
const OWN_SECTION = '## From the daily notes';

const ITEM = /^(?:[-*+]|\d{1,3}[.)])[ \t]+(\S.*)$/;
const DATED = /^(\d{4}-\d\d-\d\d)\b/;

/**
 * Finds the items that can be removed: list items outside code and comments. Headings, paragraphs
 * and items with unindented continuation lines are never removed.
 */
export function parseMemoryPage(text: string): MemoryPage {
  const lines = text === '' ? [] : text.split('\n');
  const open = classifyLines(lines);
  const items: MemoryItem[] = [];
  let isOwn = false;
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    if (open[at] !== 'open') continue;
    if (/^#{1,6}\s/.test(line)) isOwn = line.trim() === OWN_SECTION;
    const first = ITEM.exec(line)?.[1];
    if (first === undefined) continue;
    let to = at + 1;
    while (/^(?: {2}|\t)\s*\S/.test(lines[to] ?? '')) to += 1;
    const isWhole = open.slice(at, to).every((kind) => kind === 'open');
    if (isWhole && isItemEnd(lines[to])) {
      const text = [first, ...lines.slice(at + 1, to).map((more) => more.trim())].join(' ').trim();
      const date = DATED.exec(text)?.[1] ?? null;
      items.push({ id: `M${items.length + 1}`, text, from: at, to, date, isOwn });
    }
    at = to - 1;
  }
  return { lines, items };
}

export function removeItems({ lines }: MemoryPage, gone: ReadonlyMap<MemoryItem, unknown>): string {
  const ranges = [...gone.keys()];
  return lines
    .filter((_line, at) => !ranges.some(({ from, to }) => from <= at && at < to))
    .join('\n');
}

/** Appends lines to upkeep's section. A missing section is created at the end of the file. */
export function addUpkeepLines(text: string, added: readonly string[]): string {
  if (added.length === 0) return text;
  if (text.trim() === '') return ['# Memory', '', OWN_SECTION, '', ...added].join('\n');
  const lines = text.split('\n');
  const open = classifyLines(lines);
  const heading = lines.findIndex((line, at) => open[at] === 'open' && line.trim() === OWN_SECTION);
  if (heading === -1) return [text.trimEnd(), '', OWN_SECTION, '', ...added].join('\n');
  const behind = lines.findIndex(
    (line, at) => at > heading && open[at] === 'open' && /^#{1,6}\s/.test(line),
  );
  let end = behind === -1 ? lines.length : behind;
  while (end > heading + 1 && (lines[end - 1] ?? '').trim() === '') end -= 1;
  const gap = end === heading + 1 ? [''] : [];
  const rest = lines.slice(end);
  return [...lines.slice(0, end), ...gap, ...added, ...rest].join('\n');
}

/**
 * Whether an item ends before this line. A line continues the item unless it is blank or starts a
 * new block.
 */
function isItemEnd(next: string | undefined): boolean {
  if (next === undefined || next.trim() === '') return true;
  return /^(?:[-*+][ \t]|\d{1,3}[.)][ \t]|#{1,6}\s|<!--|-{3,}$)/.test(next);
}

function classifyLines(lines: readonly string[]): readonly ('open' | 'closed')[] {
  let fence = '';
  let inComment = false;
  return lines.map((line) => {
    const mark = /^\s*(`{3,}|~{3,})/.exec(line)?.[1] ?? '';
    if (!inComment && mark !== '') {
      if (fence === '') fence = mark;
      else if (mark.startsWith(fence)) fence = '';
      return 'closed';
    }
    if (fence !== '') return 'closed';
    const was = inComment;
    const opens = line.lastIndexOf('<!--');
    const closes = line.lastIndexOf('-->');
    if (opens !== -1 || closes !== -1) inComment = opens > closes;
    return was || opens !== -1 ? 'closed' : 'open';
  });
}

export interface DailyNote {
  readonly date: string;
  readonly text: string;
}

/** A line of a note that may become a line of MEMORY.md, verbatim. */
export interface NoteLine {
  /** The id, `N1`, `N2` …, starting with the oldest note. */
  readonly id: string;
  readonly date: string;
  readonly text: string;
}

const WHOLE_FILE = 100_000;

/**
 * Reads the last daily notes up to `today` (H07), oldest first, limited to the notes that this
 * reader may see. At night today's note is short, so one more day is read.
 */
export async function readRecentNotes(
  view: WorkspaceView,
  today: string,
  most: number,
): Promise<readonly DailyNote[]> {
  const found: DailyNote[] = [];
  let date = today;
  for (let back = 0; back <= most && found.length < most; back += 1) {
    const file = await view.read(`memory/${date}.md`, WHOLE_FILE);
    if (file.kind === 'file') found.push({ date, text: file.text });
    date = getDayBefore(date);
  }
  return found.reverse();
}

/** How much of one note is read, in characters. */
const LOOKED_AT = 20_000;
/**
 * The limits on the length of a line. A longer line is skipped, because a truncated line could have
 * another meaning.
 */
const MIN_LINE_LENGTH = 4;
const MAX_LINE_LENGTH = 300;

/**
 * Returns the lines of notes that their author wrote: no quotations, code blocks, addresses, or
 * text pasted from a mail, a chat or a page (G13). Otherwise text from outsiders could enter
 * MEMORY.md.
 */
export function listNoteLines(notes: readonly DailyNote[]): readonly NoteLine[] {
  const found: NoteLine[] = [];
  const seen = new Set<string>();
  for (const { date, text } of notes) {
    // A name in `backticks` is kept as text; fenced blocks are left out.
    const plain = text.slice(0, LOOKED_AT).replace(/(?<!`)`([^`\n]+)`(?!`)/g, '$1');
    const own = new Set(getAuthoredText(plain, LOOKED_AT).split('\n').map(trimLine));
    for (const line of plain.split('\n').map(trimLine)) {
      if (!own.has(line) || !isUsefulLine(line) || seen.has(line)) continue;
      seen.add(line);
      found.push({ id: `N${found.length + 1}`, date, text: line });
    }
  }
  return found;
}

function isUsefulLine(line: string): boolean {
  if (
    line.length < MIN_LINE_LENGTH ||
    line.length > MAX_LINE_LENGTH ||
    /^#{1,6}\s|^<!--/.test(line)
  )
    return false;
  return /\p{L}/u.test(line) && toMemoryLine(line) === line;
}

/** Returns a line without its bullet, checkbox and surrounding spaces. */
function trimLine(line: string): string {
  return line
    .replace(/^\s*(?:(?:[-*+]|\d{1,3}[.)])\s+)?(?:\[[ xX]\]\s+)?/, '')
    .replace(/\s+/g, ' ')
    .trim();
}
