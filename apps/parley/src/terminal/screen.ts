import type { Interface } from 'node:readline';
import { splitRows, stripControlCharacters, wrapWords } from './text.ts';

export type ChatScreen = ReturnType<typeof createChatScreen>;

export interface Terminal {
  readonly columns: number;
  readonly rows: number;
  write(text: string): unknown;
}

export const PROMPT = '› ';

const CLEAR_DOWN = '\u001b[0J';

/**
 * The screen of a chat, from top to bottom: the conversation, the growing answer, and the input
 * line.
 */
export function createChatScreen(out: Terminal, line: Interface, colour: boolean) {
  let answer = '';
  let status = '';
  /** The number of rows above the input line that the live part occupies. */
  let drawn = 0;
  let isOpen = true;
  const dim = (text: string): string => (colour ? `\u001b[2m${text}\u001b[22m` : text);

  /**
   * Moves the cursor to the first row of the live part, which has `below` rows of input under it.
   */
  const toTop = (below: number): string => {
    const up = drawn + below;
    return `\r${up > 0 ? `\u001b[${up}A` : ''}${CLEAR_DOWN}`;
  };

  /**
   * Erases the live part and the input line, prints the permanent text, and then draws the live
   * part and the input line again.
   */
  const draw = (stays: string, below: number): void => {
    if (!isOpen) return;
    const top = toTop(below);
    const rows = liveRows();
    drawn = rows.length;
    out.write(`${top}${stays}${rows.map((row) => `${row}\n`).join('')}`);
    // Without the reset, the editor would move up by the number of rows it last drew, which no
    // longer exist.
    Object.assign(line, { prevRows: 0 });
    line.prompt(true);
  };

  const liveRows = (): string[] => {
    const room = Math.max(1, out.rows - line.getCursorPos().rows - 3);
    const columns = out.columns - 1;
    const rows =
      answer === ''
        ? []
        : splitRows(wrapWords(stripControlCharacters(answer), columns), columns).slice(-room);
    const last = status === '' ? [] : splitRows(status, columns).slice(0, 1).map(dim);
    return [...rows, ...last];
  };

  return {
    say(text: string): void {
      draw(
        `${wrapWords(stripControlCharacters(text).trimEnd(), out.columns - 1)}\n\n`,
        line.getCursorPos().rows,
      );
    },
    /** Shows the growing answer and one status line. An empty string removes either of them. */
    live(nextAnswer: string, nextStatus: string): void {
      if (answer === nextAnswer && status === nextStatus) return;
      answer = nextAnswer;
      status = nextStatus;
      draw('', line.getCursorPos().rows);
    },
    /**
     * Must be called when the user has entered a line; the line stays on screen as part of the
     * conversation.
     */
    entered(text: string): void {
      // The editor has moved to the next row; what it printed is between that row and the live
      // part.
      const own = splitRows(`${PROMPT}${text}`, out.columns).length;
      draw(`${PROMPT}${stripControlCharacters(text)}\n`, own);
    },
    /** Leaves the screen in a clean state. After closing, output is discarded. */
    close(): void {
      out.write(toTop(line.getCursorPos().rows));
      isOpen = false;
    },
  };
}

/** Lines that arrive within this many ms of each other were pasted, not typed. */
const PASTE_GAP_MS = 25;

/**
 * Joins the lines of a paste into one message. If the terminal marks pastes, the pasted text is
 * sent at the next Enter. Without paste markers, lines that arrive faster than a person can type
 * are joined.
 */
export function createLineJoiner(deliver: (message: string) => void) {
  let held: string[] = [];
  let isPasting = false;
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    clearTimeout(timer);
    if (held.length === 0) return;
    const message = held.join('\n');
    held = [];
    deliver(message);
  };
  return {
    line(text: string): void {
      held.push(text);
      clearTimeout(timer);
      if (!isPasting) timer = setTimeout(flush, PASTE_GAP_MS);
    },
    /** Must be called when the terminal reports the start or end of a paste. */
    pasting(on: boolean): void {
      isPasting = on;
      if (on) clearTimeout(timer);
    },
    /** Delivers the buffered lines immediately. */
    flush,
  };
}
