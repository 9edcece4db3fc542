import {
  buildLines,
  type FormatRun,
  type FormattedLine,
  findAmbiguousText,
  getVisibleText,
  type TextFormat,
  toLineRuns,
} from '../formatting/marked-lines.ts';
import {
  type LineStart,
  type ParsedMarks,
  parseMarkedLines,
  type ReadingMode,
} from '../formatting/read-marks.ts';

/** A parsed WhatsApp message: its visible text and its violations. */
export interface FormattedMessage {
  readonly lines: readonly FormattedLine[];
  /** The visible text: without markers and quote bars, with `• ` and numbers. */
  readonly visible: string;
  /** The same text, split into runs with uniform formatting and without bullets and numbers. */
  readonly runs: readonly FormatRun[];
  /** Ambiguous or wrong markup; empty for a correct text. */
  readonly violations: readonly FormattingViolation[];
}

/**
 * Parses WhatsApp's text formatting strictly: only marks that every client renders count, and text
 * that clients may render differently is a violation.
 *
 * Sources, read in November 2026: WhatsApp's help article "How to format your messages" (the list
 * of marks); the behavior of WhatsApp's web client (triple backticks come first and may span lines;
 * exactly one space after `>`, `-`, `*`, `1.`; numbers of one or two digits; empty quotes and items
 * do not count; a closing marker can be the boundary of the next one; blocks only at the very start
 * of a line, so lists and quotes do not nest); mautrix-whatsapp's `wa-text.go` (the nearest closing
 * marker, no mark across lines, no mark next to letters and digits); issue 1643 of devlikeapro/waha
 * (white space inside next to a marker, a letter outside). None of these sources is a
 * specification, so where they are ambiguous, the text must be correct under every interpretation
 * (`Reading`).
 * @param meant plain text that the author intended literally; its characters cause no violations
 */
export function parseWhatsApp(text: string, meant = ''): FormattedMessage {
  const strict = parseMarkedLines(text, 'strict', { readStart: parseLineStart });
  const lines = buildLines(text, strict);
  const runs = lines.map(toLineRuns);
  const loose = parseMarkedLines(text, 'loose', { readStart: parseLineStart });
  const violations = findViolations(text, runs, strict, loose, meant);
  return { lines, visible: getVisibleText(lines), runs: runs.flat(), violations };
}

function parseLineStart(line: string, reading: ReadingMode): LineStart {
  const behind = reading === 'strict' ? ' (?! )(?=[^\\n])' : '[^\\S\\n]';
  const [marker = ''] = new RegExp(`^(?:[>*-]|\\d{1,2}\\.)${behind}`).exec(line) ?? [];
  const { length } = marker;
  switch (marker[0]) {
    case undefined:
      return { kind: 'paragraph', length };
    case '>':
      return { kind: 'quote', length };
    case '*':
    case '-':
      return { kind: 'bullet', length };
    default:
      return { kind: 'number', number: marker.trimEnd(), length };
  }
}

/**
 * `heading`, `table`, `link`, `marker`: Markdown that WhatsApp shows unrendered. `fence`: an
 * unmatched triple backtick. `ambiguous`: clients render it differently.
 */
interface FormattingViolation {
  readonly kind: 'heading' | 'table' | 'link' | 'marker' | 'fence' | 'ambiguous';
  /** The affected part of the message. */
  readonly text: string;
}

const MARKDOWN: readonly (readonly [FormattingViolation['kind'], RegExp])[] = [
  ['heading', /^#{1,6} .*$/gm],
  ['table', /^ *\|[^|\n].*\| *$|^[ |:-]*-[ |:-]*\|[ |:-]*$/gm],
  ['link', /\[[^[\]\n]+\]\([^()\s]+\)/g],
  ['marker', /(?<![\p{L}\p{N}*])\*\*(?![\s*])[^*\n]+\*\*(?![\p{L}\p{N}*])/gu],
  ['marker', /(?<![\p{L}\p{N}_])__(?![\s_])[^_\n]+__(?![\p{L}\p{N}_])/gu],
  ['marker', /(?<![\p{L}\p{N}~])~~(?![\s~])[^~\n]+~~(?![\p{L}\p{N}~])/gu],
];

/**
 * Finds the violations in a text; see `parseWhatsApp`.
 * @param lines the visible text of each line
 */
function findViolations(
  text: string,
  lines: readonly (readonly FormatRun[])[],
  strict: ParsedMarks,
  loose: ParsedMarks,
  meant: string,
): FormattingViolation[] {
  const literal = normalizeVisibleText(meant);
  const markdown = lines.flatMap(findLeftoverMarkdown);
  if (strict.unpaired !== undefined) markdown.push({ kind: 'fence', text: '```' });
  const unmeant = markdown.filter(
    (violation) => !literal.includes(normalizeVisibleText(violation.text)),
  );
  const ambiguous = findAmbiguousText(text, strict, loose);
  return [
    ...unmeant,
    ...ambiguous.map((part): FormattingViolation => ({ kind: 'ambiguous', text: part })),
  ];
}

/** Removes invisible characters, and the spoiler bars that plain text does not contain. */
function normalizeVisibleText(text: string): string {
  return text.replaceAll('||', '').replace(/[\s\p{Cf}]/gu, '');
}

function findLeftoverMarkdown(runs: readonly FormatRun[]): FormattingViolation[] {
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

function isCode(format: TextFormat): boolean {
  return format === 'code' || format === 'monospace';
}
