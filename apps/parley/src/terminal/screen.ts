import type { Interface } from 'node:readline';
import { rowsOf, visible, wrapWords } from './text.ts';

export type ChatScreen = ReturnType<typeof createChatScreen>;

export interface Terminal {
  readonly columns: number;
  readonly rows: number;
  write(text: string): unknown;
}

export const PROMPT = '› ';

const CLEAR_DOWN = '\u001b[0J';

/** The screen of a chat: what was said, below it what is being written, below that the typed line. */
export function createChatScreen(out: Terminal, line: Interface, colour: boolean) {
  let answer = '';
  let status = '';
  /** Rows of the live part, as on the screen above the typed line. */
  let drawn = 0;
  let isOpen = true;
  const dim = (text: string): string => (colour ? `\u001b[2m${text}\u001b[22m` : text);

  /** Goes to the first row of the live part; `below` rows of typed text are under it. */
  const toTop = (below: number): string => {
    const up = drawn + below;
    return `\r${up > 0 ? `\u001b[${up}A` : ''}${CLEAR_DOWN}`;
  };

  /** Takes the live part and the typed line away, adds what is to stay, draws both again. */
  const draw = (stays: string, below: number): void => {
    if (!isOpen) return;
    const top = toTop(below);
    const rows = liveRows();
    drawn = rows.length;
    out.write(`${top}${stays}${rows.map((row) => `${row}\n`).join('')}`);
    // The editor would go up by the rows of its last drawing first, which are gone.
    Object.assign(line, { prevRows: 0 });
    line.prompt(true);
  };

  const liveRows = (): string[] => {
    const room = Math.max(1, out.rows - line.getCursorPos().rows - 3);
    const columns = out.columns - 1;
    const rows =
      answer === '' ? [] : rowsOf(wrapWords(visible(answer), columns), columns).slice(-room);
    const last = status === '' ? [] : rowsOf(status, columns).slice(0, 1).map(dim);
    return [...rows, ...last];
  };

  return {
    say(text: string): void {
      draw(`${wrapWords(visible(text).trimEnd(), out.columns - 1)}\n\n`, line.getCursorPos().rows);
    },
    /** Shows the growing answer and one line of status; '' takes them away. */
    live(nextAnswer: string, nextStatus: string): void {
      if (answer === nextAnswer && status === nextStatus) return;
      answer = nextAnswer;
      status = nextStatus;
      draw('', line.getCursorPos().rows);
    },
    /** Call when a line was entered: it stays, as something said. */
    entered(text: string): void {
      // The editor has gone to the next row; what it wrote is between it and the live part.
      const own = rowsOf(`${PROMPT}${text}`, out.columns).length;
      draw(`${PROMPT}${visible(text)}\n`, own);
    },
    /** Leaves the screen in order at the end; what comes later is not shown. */
    close(): void {
      out.write(toTop(line.getCursorPos().rows));
      isOpen = false;
    },
  };
}

/** Lines closer together than this were pasted, not typed; in ms. */
const PASTE_GAP_MS = 25;

/**
 * Makes messages of lines: those of one paste belong together. Where the terminal marks pastes, all of it waits
 * for the Enter after it; else lines that come faster than anyone types are one message.
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
    /** The terminal says that a paste begins or ends. */
    pasting(on: boolean): void {
      isPasting = on;
      if (on) clearTimeout(timer);
    },
    /** Hands over at once what is held back. */
    flush,
  };
}
