/** A line, taken apart. */
export interface Line {
  /** Indent, quote marks and list markers. */
  readonly prefix: string;
  readonly content: string;
}

const PREFIX = /^(?:[ \t>]|(?:[-*+]|\d{1,9}[.)])(?=[ \t]))*/;
/** What may still become a list marker, heading, rule, underline, fence or row. */
const HALF_BLOCK = /^(?:[-*+_=#~`|$>]+|\\\[?|\d{1,9}[.)]?)$/;
/** The box of a task, or its beginning. */
const HALF_BOX = /^\[[ xX]?\]?$/;

/** Takes a line apart. */
export function readLine(line: string): Line {
  const prefix = PREFIX.exec(line)?.[0] ?? '';
  return { prefix, content: line.slice(prefix.length).trim() };
}

/** The text without its last line, if it is not decided what that line means: shown it would flicker. */
export function withoutHalfLine(text: string): string {
  const start = text.lastIndexOf('\n') + 1;
  const { prefix, content } = readLine(text.slice(start));
  const marker = prefix.trim();
  const isHalf =
    content === ''
      ? prefix !== ''
      : HALF_BLOCK.test(content) || (marker !== '' && HALF_BOX.test(content));
  return isHalf ? text.slice(0, start) : text;
}

/** The text without a last line that is only the beginning of a table's row. */
export function withoutHalfRow(text: string): string {
  const start = text.lastIndexOf('\n') + 1;
  return /^\|+$/.test(readLine(text.slice(start)).content) ? text.slice(0, start) : text;
}

/**
 * The text without a last line that is the beginning of a code block's end.
 * @param blockStart where the code block begins.
 */
export function withoutHalfFence(text: string, blockStart: number): string {
  const start = text.lastIndexOf('\n') + 1;
  const fence = text[blockStart] ?? '';
  if (start <= blockStart || !'`~$\\'.includes(fence)) return text;
  const { content } = readLine(text.slice(start));
  return content !== '' && content === fence.repeat(content.length) ? text.slice(0, start) : text;
}
