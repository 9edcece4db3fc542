import {
  buildLines,
  type FormatRun,
  type FormattedLine,
  findAmbiguousText,
  getVisibleText,
  toLineRuns,
} from './marked-lines.ts';
import { type LineRules, parseMarkedLines, type ReadingMode } from './read-marks.ts';
import type { FlattenedMessage, TokenViolation } from './tokens.ts';

/** A parsed message: its visible text and its violations. */
export interface MarkedMessage {
  readonly lines: readonly FormattedLine[];
  /** The visible text: without markers and quote bars, with `• ` for bullets. */
  readonly visible: string;
  /** The same text, split into runs with uniform formatting and without bullets. */
  readonly runs: readonly FormatRun[];
  /** Ambiguous markup, errors and unwanted notifications; empty for a correct text. */
  readonly violations: readonly MessageViolation[];
}

/**
 * `fence`: an unmatched triple backtick. `ambiguous`: the rendering depends on the interpretation.
 */
export type MessageViolation =
  | TokenViolation
  | { readonly kind: 'fence' | 'ambiguous'; readonly text: string };

const OTHER_READINGS: readonly ReadingMode[] = [
  'loose',
  'loose-joiner-space',
  'loose-joiner-letter',
];

/** Parses a message without its tokens under every reading. */
export function parseMarkedMessage(
  { text, links, violations }: FlattenedMessage,
  readStart: LineRules['readStart'],
): MarkedMessage {
  const rules = { readStart, links };
  const strict = parseMarkedLines(text, 'strict', rules);
  const ambiguous = new Set(
    OTHER_READINGS.flatMap((reading) =>
      findAmbiguousText(text, strict, parseMarkedLines(text, reading, rules)),
    ),
  );
  // Marks are not allowed in the text of a link.
  for (const { from, to } of [...strict.pairs, ...strict.opaque]) {
    const isIn = (at: number) => links.some((link) => link.from < at && at < link.to);
    if (isIn(from) || isIn(to)) ambiguous.add(text.slice(from, to));
  }
  const lines = buildLines(text, strict, links);
  return {
    lines,
    visible: getVisibleText(lines),
    runs: lines.flatMap(toLineRuns),
    violations: [
      ...violations,
      ...(strict.unpaired === undefined ? [] : [{ kind: 'fence', text: '```' } as const]),
      ...[...ambiguous].map((part) => ({ kind: 'ambiguous', text: part }) as const),
    ],
  };
}
