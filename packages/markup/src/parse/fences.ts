/** The opening line of a fenced code block. */
export interface Fence {
  readonly indent: number;
  readonly character: string;
  readonly length: number;
}

/** Reads the opening line of a fenced block at the top level, as CommonMark defines it. */
export function openFence(line: string): Fence | undefined {
  const trimmed = line.trimStart();
  const indent = line.length - trimmed.length;
  const character = trimmed[0];
  if (indent > 3 || (character !== '`' && character !== '~')) return undefined;
  const length = countLeading(trimmed, character);
  if (length < 3) return undefined;
  if (character === '`' && trimmed.includes('`', length)) return undefined;
  return { indent, character, length };
}

/** Whether the line ends the fenced block. */
export function closesFence(line: string, fence: Fence): boolean {
  const trimmed = line.trim();
  if (line.length - line.trimStart().length > 3) return false;
  const length = countLeading(trimmed, fence.character);
  return length >= fence.length && length === trimmed.length;
}

/** A fenced block's language and content. */
export interface FencedCode {
  readonly language: string | undefined;
  readonly text: string;
}

/**
 * Reads a fenced block without the parser.
 * @param lines with the opening line and, if there is one, the closing line.
 */
export function readFenced(lines: readonly string[]): FencedCode | undefined {
  const opening = lines[0] ?? '';
  const fence = openFence(opening);
  if (fence === undefined) return undefined;
  const closed = lines.length > 1 && closesFence(lines.at(-1) ?? '', fence);
  // The line end before the closing line, or at the end of the text, is not part of the code.
  const body = lines.slice(1, closed || lines.at(-1) === '' ? -1 : undefined);
  const info = opening.trim().slice(fence.length).trim();
  const text = body.map((line) => withoutIndent(line, fence.indent)).join('\n');
  return { language: info.split(' ')[0] || undefined, text };
}

function withoutIndent(line: string, indent: number): string {
  let at = 0;
  while (at < indent && line[at] === ' ') at += 1;
  return line.slice(at);
}

function countLeading(text: string, character: string): number {
  let count = 0;
  while (text[count] === character) count += 1;
  return count;
}
