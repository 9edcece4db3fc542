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
