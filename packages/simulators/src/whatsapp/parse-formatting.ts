import { type Found, findCrossing, type Line, readLines } from './read-marks.ts';

/** One line of a message as a phone draws it. A monospace run in it may contain line ends. */
export type FormattedLine = Line & { readonly children: readonly Inline[] };

/** A WhatsApp message as people see it. */
export interface Formatted {
  readonly lines: readonly FormattedLine[];
  /** The visible text: without markers and quote bars, with `• ` and numbers. */
  readonly visible: string;
  /** The same text split into runs of equal format, without bullets and numbers. */
  readonly runs: readonly FormatRun[];
  /** What might look different or wrong in some clients; empty for a correct text. */
  readonly violations: readonly Violation[];
}

/**
 * Parses WhatsApp's text formatting strictly: only what every client renders counts as a mark, and
 * what some client might render differently is a violation.
 *
 * Sources, read in November 2026: WhatsApp's help article "How to format your messages" (the list of
 * marks); the behavior of WhatsApp's web client (triple backticks come first and may span lines;
 * exactly one space after `>`, `-`, `*`, `1.`; numbers of one or two digits; empty quotes and items
 * do not count; a closing marker can be the boundary of the next one; blocks only at the very start
 * of a line, so lists and quotes do not nest); mautrix-whatsapp's `wa-text.go` (the nearest closing
 * marker, no mark across lines, no mark next to letters and digits); issue 1643 of devlikeapro/waha
 * (white space inside next to a marker, a letter outside). None of them is a specification, so where
 * they leave room, the text must be correct under every interpretation (`Reading`).
 * @param meant plain text that is meant literally; its characters cause no violations
 */
export function parseWhatsApp(text: string, meant = ''): Formatted {
  const strict = readLines(text, 'strict');
  const lines = strict.lines.map((line) => ({
    ...line,
    children: buildInlines(text, line, strict),
  }));
  const runs = lines.map(lineRuns);
  const violations = findViolations(text, runs, strict, readLines(text, 'loose'), meant);
  return { lines, visible: visibleText(lines), runs: runs.flat(), violations };
}

/** The format of a run of text. */
export type Format =
  | 'bold'
  | 'italic'
  | 'strike'
  | 'code'
  | 'monospace'
  | 'quote'
  | 'bullet'
  | 'number';

/** Text with one set of formats, outermost first. */
interface FormatRun {
  readonly text: string;
  readonly formats: readonly Format[];
}

/** The runs of one line. */
export function lineRuns(line: FormattedLine): FormatRun[] {
  const formats: Format[] = line.kind === 'paragraph' ? [] : [line.kind];
  return line.children.flatMap((child) => inlineRuns(child, formats));
}

function inlineRuns(inline: Inline, formats: readonly Format[]): FormatRun[] {
  switch (inline.type) {
    case 'text':
    case 'url':
      return [{ text: inline.text, formats }];
    case 'code':
    case 'monospace':
      return [{ text: inline.text, formats: [...formats, inline.type] }];
    default: {
      const inside = [...formats, inline.type];
      return inline.children.flatMap((child) => inlineRuns(child, inside));
    }
  }
}

/** The visible text of all lines. */
function visibleText(lines: readonly FormattedLine[]): string {
  return lines
    .map((line) => {
      const text = lineRuns(line)
        .map((run) => run.text)
        .join('');
      if (line.kind === 'bullet') return `• ${text}`;
      return line.kind === 'number' ? `${line.number} ${text}` : text;
    })
    .join('\n');
}

/** A mark that can contain others. */
type MarkType = 'bold' | 'italic' | 'strike';

/** Inline content; `text` never includes markers. */
export type Inline =
  | { readonly type: 'text' | 'url' | 'code' | 'monospace'; readonly text: string }
  | { readonly type: MarkType; readonly children: readonly Inline[] };

interface Node {
  readonly type: Inline['type'];
  readonly from: number;
  readonly to: number;
}

const MARKER_LENGTH = { monospace: 3, code: 1, url: 0, text: 0, bold: 1, italic: 1, strike: 1 };

/** Builds a tree from what was found in a line. Of overlapping marks, the first one stays. */
function buildInlines(text: string, line: Line, found: Found): Inline[] {
  const inLine = (node: Node) => node.from >= line.from && node.to <= line.to;
  const nodes: Node[] = [...found.opaque, ...found.pairs].filter(inLine);
  nodes.sort((a, b) => a.from - b.from || b.to - a.to);
  return build(text, line.from, line.to, nodes);
}

function build(text: string, from: number, to: number, nodes: readonly Node[]): Inline[] {
  const children: Inline[] = [];
  let at = from;
  const plain = (end: number) => {
    if (end > at) children.push({ type: 'text', text: text.slice(at, end) });
  };
  for (const [index, node] of nodes.entries()) {
    if (node.from < at || node.to > to) continue;
    plain(node.from);
    const width = MARKER_LENGTH[node.type];
    const inner = [node.from + width, node.to - width] as const;
    if (node.type === 'bold' || node.type === 'italic' || node.type === 'strike') {
      const rest = nodes.slice(index + 1).filter((other) => other.from < node.to);
      children.push({ type: node.type, children: build(text, ...inner, rest) });
    } else children.push({ type: node.type, text: text.slice(...inner) });
    at = node.to;
  }
  plain(to);
  return children;
}

/**
 * `heading`, `table`, `link`, `marker`: Markdown that WhatsApp shows as written. `fence`: an
 * unmatched triple backtick. `ambiguous`: clients render it differently.
 */
interface Violation {
  readonly kind: 'heading' | 'table' | 'link' | 'marker' | 'fence' | 'ambiguous';
  /** The part of the message that is affected. */
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
 * Finds the problems of a text; see `parseWhatsApp`.
 * @param lines the visible text of each line
 */
function findViolations(
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

/** Removes invisible characters, and the bars of spoilers, which plain text does not have. */
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

/** Whether monospace spans several lines of a quote, on which clients disagree. */
function isTornQuote(text: string, line: Line): boolean {
  return line.kind === 'quote' && text.slice(line.from, line.to).includes('\n');
}
