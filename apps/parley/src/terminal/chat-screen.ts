import { clearLine, cursorTo, type Interface } from 'node:readline';

/** Writes answers above the line that is being typed, without disturbing it. */
export interface ChatScreen {
  write(text: string): void;
  /** Shows or takes away the sign that an answer is on its way. */
  thinking(on: boolean): void;
  prompt(): void;
}

const THINKING = '… thinking (Ctrl-C stops)';

/** A screen on a terminal; `line` is the editor of what is being typed. */
export function createChatScreen(
  out: NodeJS.WriteStream,
  line: Interface,
  colour: boolean,
): ChatScreen {
  let busy = false;
  const dim = (text: string): string => (colour ? `\u001b[2m${text}\u001b[0m` : text);
  const wipe = (): void => {
    cursorTo(out, 0);
    clearLine(out, 0);
  };
  const restore = (): void => {
    if (busy && line.line === '') out.write(dim(THINKING));
    else line.prompt(true);
  };
  return {
    write(text) {
      if (text === '') return;
      wipe();
      out.write(text.endsWith('\n') ? text : `${text}\n`);
      restore();
    },
    thinking(on) {
      if (busy === on) return;
      busy = on;
      wipe();
      restore();
    },
    prompt: () => line.prompt(),
  };
}
