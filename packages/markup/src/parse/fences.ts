/** The opening line of a fenced code block, or of maths that goes on as one does. */
export interface Fence {
  readonly indent: number;
  readonly character: string;
  readonly length: number;
  readonly maths?: MathsOpening['closing'];
}

/** Reads the opening line of a fenced block that stands at the top level, as CommonMark defines it. */
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

/** The same for a marker of maths alone on its line. */
export function openMathsFence(line: string): Fence | undefined {
  const trimmed = line.trimStart();
  const indent = line.length - trimmed.length;
  const maths = openMaths(trimmed);
  if (indent > 3 || maths?.until !== 'closing') return undefined;
  return { indent, character: trimmed[0] ?? '', length: 2, maths: maths.closing };
}

/** Whether the line ends the fenced block. */
export function closesFence(line: string, fence: Fence): boolean {
  if (fence.maths !== undefined) return closesMaths(line, fence.maths);
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
  if (openMathsFence(opening) !== undefined) {
    return { language: 'latex', text: mathsContent(lines.join('\n').trimStart()) };
  }
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

/** How a block of maths goes on after its first line. */
export interface MathsOpening {
  readonly closing: '$$' | '\\]';
  /** Nowhere, as it is closed already; until the closing line; or at most to the next empty line. */
  readonly until: 'here' | 'closing' | 'empty line';
}

/** Signs that hardly stand in prose. */
const FORMULA = /[\\^_=+{}<>|/]|(?<!\*)\*(?!\*)/;
/** What a formula of several lines has in its first. */
const FORMULA_BEGINS = /[\\^]|[^=]=/;

/**
 * Reads the first line of a block of maths. A marker alone opens one as a code fence does. More care
 * is taken with what follows a marker: `\[x\]` may be an escaped bracket and `$$` a price class.
 * @param line without indent.
 */
export function openMaths(line: string): MathsOpening | undefined {
  const closing = line.startsWith('$$') ? '$$' : line.startsWith('\\[') ? '\\]' : undefined;
  if (closing === undefined) return undefined;
  const body = line.slice(2).trim();
  if (body === '') return { closing, until: 'closing' };
  const end = body.indexOf(closing);
  if (end < 0) return FORMULA_BEGINS.test(body) ? { closing, until: 'empty line' } : undefined;
  if (end === 0 || end + 2 < body.length) return undefined;
  return closing === '$$' || FORMULA.test(body.slice(0, end))
    ? { closing, until: 'here' }
    : undefined;
}

/** Whether the line ends a block of maths. */
export function closesMaths(line: string, closing: MathsOpening['closing']): boolean {
  return line.trimEnd().endsWith(closing);
}

/**
 * What stands between the markers, without empty lines and common indent.
 * @param source from the opening marker on; the closing one may be missing.
 */
export function mathsContent(source: string): string {
  const closing = source.startsWith('$$') ? '$$' : '\\]';
  const text = source.slice(2).trimEnd();
  const body = text.endsWith(closing) ? text.slice(0, -2) : text;
  const lines = body.split('\n').map((line) => line.trimEnd());
  const first = lines[0]?.trim() ?? '';
  const others = lines.slice(1);
  const indents = others.filter((line) => line !== '').map((line) => line.search(/\S/));
  const common = Math.min(...indents);
  const shown = [first, ...others.map((line) => line.slice(common))];
  const from = shown.findIndex((line) => line !== '');
  const to = shown.findLastIndex((line) => line !== '');
  return shown.slice(Math.max(0, from), to + 1).join('\n');
}
