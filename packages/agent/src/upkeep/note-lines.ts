import { memoryLine } from '@parley/workspace';
import { ownText } from '../memory/own-sentences.ts';

/** The note of one day. */
export interface DailyNote {
  /** `2026-11-21` */
  readonly date: string;
  readonly text: string;
}

/** A line of a note that may become a line of MEMORY.md, word for word. */
export interface NoteLine {
  /** `N1`, `N2` … from the oldest note on. */
  readonly id: string;
  readonly date: string;
  readonly text: string;
}

/** So many characters of one note are looked at. */
const LOOKED_AT = 20_000;
/** Shorter ones tell nothing by themselves; longer ones are not cut, as they would say something else. */
const LEAST = 4;
const MOST = 300;

/**
 * The lines of notes that are the writer's own: nothing that is quoted, pasted from a mail, a chat or a
 * page, fenced, or holds an address (G13). What somebody else said could otherwise become what the agent
 * always knows.
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

/** Without bullet, box to tick and spaces. */
function bare(line: string): string {
  return line
    .replace(/^\s*(?:(?:[-*+]|\d{1,3}[.)])\s+)?(?:\[[ xX]\]\s+)?/, '')
    .replace(/\s+/g, ' ')
    .trim();
}
