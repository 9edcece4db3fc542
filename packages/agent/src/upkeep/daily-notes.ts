import { memoryLine, type WorkspaceView } from '@parley/workspace';
import { dayBefore } from '../context/yesterday-source.ts';
import { ownText } from '../memory/own-words.ts';

export interface DailyNote {
  readonly date: string;
  readonly text: string;
}

/** A line of a note that may become a line of MEMORY.md, verbatim. */
export interface NoteLine {
  /** `N1`, `N2` … from the oldest note on. */
  readonly id: string;
  readonly date: string;
  readonly text: string;
}

/** Notes that are read (H07). At night today's note is short, so one day more is looked at. */
const NOTES = 7;
const WHOLE_FILE = 100_000;

/** The last seven daily notes up to `today`, the oldest first, as far as this reader may see them. */
export async function lastNotes(view: WorkspaceView, today: string): Promise<readonly DailyNote[]> {
  const found: DailyNote[] = [];
  let date = today;
  for (let back = 0; back <= NOTES && found.length < NOTES; back += 1) {
    const file = await view.read(`memory/${date}.md`, WHOLE_FILE);
    if (file.kind === 'file') found.push({ date, text: file.text });
    date = dayBefore(date);
  }
  return found.reverse();
}

/** Characters of one note that are read. */
const LOOKED_AT = 20_000;
/** Lengths of a line; a cut line would say something else. */
const LEAST = 4;
const MOST = 300;

/**
 * The writer's own lines of notes: nothing quoted, fenced, with an address, or pasted from a mail, a chat
 * or a page (G13). Otherwise text of others could get into MEMORY.md.
 */
export function noteLines(notes: readonly DailyNote[]): readonly NoteLine[] {
  const found: NoteLine[] = [];
  const seen = new Set<string>();
  for (const { date, text } of notes) {
    // A name in `ticks` is a name; a block in fences stays out.
    const plain = text.slice(0, LOOKED_AT).replace(/(?<!`)`([^`\n]+)`(?!`)/g, '$1');
    const own = new Set(ownText(plain, LOOKED_AT).split('\n').map(bare));
    for (const line of plain.split('\n').map(bare)) {
      if (!own.has(line) || !isOfUse(line) || seen.has(line)) continue;
      seen.add(line);
      found.push({ id: `N${found.length + 1}`, date, text: line });
    }
  }
  return found;
}

function isOfUse(line: string): boolean {
  if (line.length < LEAST || line.length > MOST || /^#{1,6}\s|^<!--/.test(line)) return false;
  return /\p{L}/u.test(line) && memoryLine(line) === line;
}

/** Without bullet, checkbox and spaces. */
function bare(line: string): string {
  return line
    .replace(/^\s*(?:(?:[-*+]|\d{1,3}[.)])\s+)?(?:\[[ xX]\]\s+)?/, '')
    .replace(/\s+/g, ' ')
    .trim();
}
