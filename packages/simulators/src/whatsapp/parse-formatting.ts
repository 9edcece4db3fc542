import { buildInlines, type Inline } from './build-inlines.ts';
import { findViolations, type Violation } from './find-violations.ts';
import { type FormatRun, lineRuns, visibleText } from './format-runs.ts';
import { type Line, readLines } from './read-lines.ts';

export type { Inline } from './build-inlines.ts';
export type { Violation } from './find-violations.ts';
export type { Format, FormatRun } from './format-runs.ts';

/** One line of a message as a phone draws it. A monospace stretch in it may contain line ends. */
export type FormattedLine = Line & { readonly children: readonly Inline[] };

/** A WhatsApp message as people see it. */
export interface Formatted {
  readonly lines: readonly FormattedLine[];
  /** The text people see: without markers, with `• ` and numbers, without the bar of a quote. */
  readonly visible: string;
  /** The same text in stretches of equal format, without bullets and numbers. */
  readonly runs: readonly FormatRun[];
  /** Why this text would not look the same, or not look right, on every client. Empty: it is fine. */
  readonly violations: readonly Violation[];
}

/**
 * Reads WhatsApp's text formatting strictly: only what every client shows is a mark, and what some
 * client might show differently is a violation.
 *
 * Sources, read in November 2026: WhatsApp's help article "How to format your messages" (which
 * marks there are); the behaviour of WhatsApp's web client (triple backticks first and across lines;
 * one space and then no other after `>`, `-`, `*`, `1.`; numbers of one or two digits; an empty
 * quote or item is none; a marker is reused as the next one's edge; blocks only at a line's very
 * start, so lists and quotes do not nest); mautrix-whatsapp's `wa-text.go` (nearest closing marker,
 * no mark across lines, letters and digits beside a mark forbid it); issue 1643 of devlikeapro/waha
 * (white space inside beside a marker, a letter outside). None of them is a specification, so where
 * they leave room the text has to be fine under all of them (`Reading`).
 * @param meant plain text that is meant literally: what stands in it is not held against the text.
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
