import { findCrossing } from './find-marks.ts';
import type { Format, FormatRun } from './format-runs.ts';
import type { Found, Line } from './read-lines.ts';

/**
 * `heading`, `table`, `link`, `marker`: Markdown that WhatsApp shows as written. `fence`: a triple
 * backtick without a partner. `ambiguous`: clients differ on it.
 */
export interface Violation {
  readonly kind: 'heading' | 'table' | 'link' | 'marker' | 'fence' | 'ambiguous';
  /** The part of the message it is about. */
  readonly text: string;
}

const MARKDOWN: readonly (readonly [Violation['kind'], RegExp])[] = [
  ['heading', /^#{1,6} .*$/gm],
  ['table', /^ *\|[^|\n].*\| *$|^[ |:-]*-[ |:-]*\|[ |:-]*$/gm],
  ['link', /\[[^[\]\n]+\]\([^()\s]+\)/g],
  ['marker', /(?<![\p{L}\p{N}*])\*\*(?![\s*])[^*\n]+\*\*(?![\p{L}\p{N}*])/gu],
  ['marker', /(?<![\p{L}\p{N}_])__(?![\s_])[^_\n]+__(?![\p{L}\p{N}_])/gu],
  ['marker', /(?<![\p{L}\p{N}~])~~(?![\s~])[^~\n]+~~(?![\p{L}\p{N}~])/gu],
];

/**
 * What is wrong with a text; see `parseWhatsApp`.
 * @param lines what people see of each.
 */
export function findViolations(
  text: string,
  lines: readonly (readonly FormatRun[])[],
  strict: Found,
  loose: Found,
  meant: string,
): Violation[] {
  const literal = essence(meant);
  const markdown = lines.flatMap(leftMarkdown);
  if (strict.unpaired !== undefined) markdown.push({ kind: 'fence', text: '```' });
  const unmeant = markdown.filter((violation) => !literal.includes(essence(violation.text)));
  return [...unmeant, ...ambiguous(text, strict, loose)];
}

/** Less what people do not see, and less the bars of spoilers, which plain text does not have. */
function essence(text: string): string {
  return text.replaceAll('||', '').replace(/[\s\p{Cf}]/gu, '');
}

function leftMarkdown(runs: readonly FormatRun[]): Violation[] {
  const shown = runs.map(({ text }) => text).join('');
  const searched = runs
    .map(({ text, formats }) => (formats.some(isCode) ? '\0'.repeat(text.length) : text))
    .join('');
  return MARKDOWN.flatMap(([kind, pattern]) =>
    [...searched.matchAll(pattern)].map(({ index, 0: { length } }) => {
      return { kind, text: shown.slice(index, index + length) };
    }),
  );
}

function isCode(format: Format): boolean {
  return format === 'code' || format === 'monospace';
}

function ambiguous(text: string, strict: Found, loose: Found): Violation[] {
  const part = (from: number, to: number): Violation => ({
    kind: 'ambiguous',
    text: text.slice(from, to),
  });
  const found: Violation[] = [];
  const isSame = (a: { type: string; from: number; to: number }) => `${a.type} ${a.from} ${a.to}`;
  const certain = new Set([...strict.pairs, ...strict.opaque].map(isSame));
  for (const pair of [...loose.pairs, ...loose.opaque]) {
    if (pair.type !== 'url' && !certain.has(isSame(pair))) found.push(part(pair.from, pair.to));
  }
  for (const [index, line] of loose.lines.entries()) {
    const other = strict.lines[index];
    if (line.kind !== other?.kind) found.push(part(line.start, line.to));
  }
  for (const line of strict.lines)
    if (isTornQuote(text, line)) found.push(part(line.start, line.to));
  const nodes = [...strict.pairs, ...strict.opaque];
  if (findCrossing(nodes)) found.push(part(0, text.length));
  return found;
}

/** Monospace over several lines of a quote: clients disagree which of the two it is. */
function isTornQuote(text: string, line: Line): boolean {
  return line.kind === 'quote' && text.slice(line.from, line.to).includes('\n');
}
