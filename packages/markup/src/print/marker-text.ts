import type { RunMark, TextRun } from '../document.ts';
import { findLink } from '../transform/runs.ts';
import { WORD_JOINER } from './invisible.ts';
import { walkRuns } from './lines.ts';
import {
  createSpanChecker,
  type FormatSpan,
  findAccidentalMarks,
  findLiteralMarkers,
  MARKER,
  resolveFormatSpans,
  type Span,
} from './marker-places.ts';

/** The differences between dialects whose marks are single characters, such as `*bold*`. */
export interface MarkerSyntax {
  /**
   * Writes text so that the platform does not find a token, mention or emoji name in it. `rest` is
   * the text after it in the line, which could continue a token.
   */
  readonly escape: (text: string, place: TextPlace, rest: string) => string;
  /** The token for a link; the text is already escaped, and undefined if it equals the URL. */
  readonly link?: (url: string, text: string | undefined) => string;
  /** The sides of a literal marker on which an invisible character keeps it literal. */
  readonly guards: 'before' | 'around';
}

/**
 * The position of the text; `code-beside-ticks` is code in a line that has literal backticks, too.
 */
export type TextPlace = 'text' | 'code' | 'code-beside-ticks';

/**
 * Writes inline content line by line, with markers where they work on every client: marks end with
 * the line and start again on the next, inside words they are omitted, and text that only looks
 * like a mark is kept from becoming one.
 */
export function printMarkedLines(runs: readonly TextRun[], syntax: MarkerSyntax): string[] {
  return splitPlainLines(runs).map((line) => markLine(line, syntax));
}

interface LinkSpan extends Span {
  readonly url: string;
}

/** A line without markers, and its formats and links, outermost first. */
interface PlainLine {
  text: string;
  readonly stretches: FormatSpan[];
  readonly links: LinkSpan[];
}

function createPlainLine(): PlainLine {
  return { text: '', stretches: [], links: [] };
}

function splitPlainLines(runs: readonly TextRun[]): PlainLine[] {
  let line = createPlainLine();
  const lines = [line];
  const open: { mark: RunMark; from: number; index: number }[] = [];
  const begin = (mark: RunMark) => {
    open.push({ mark, from: line.text.length, index: line.stretches.length });
    // Reserves the position of the mark until its end is known, so that outer marks come first.
    if (isMarker(mark.type)) line.stretches.push({ type: mark.type, from: 0, to: 0 });
  };
  const end = () => {
    const last = open.pop();
    if (last === undefined) return;
    const { mark, from, index } = last;
    const to = line.text.length;
    if (mark.type === 'link' && from < to) line.links.push({ url: mark.url, from, to });
    if (isMarker(mark.type)) line.stretches[index] = { type: mark.type, from, to };
  };
  walkRuns(runs, {
    open: begin,
    close: end,
    text: (text, at) => {
      // A link with a line break would become several links.
      const shown = findLink(runs[at]) === undefined ? text : text.replaceAll(/\s*\n\s*/g, ' ');
      for (const [index, piece] of shown.split('\n').entries()) {
        if (index > 0) {
          const marks = open.map(({ mark }) => mark);
          for (const _ of marks) end();
          line = createPlainLine();
          lines.push(line);
          marks.forEach(begin);
        }
        line.text += piece;
      }
    },
  });
  return lines;
}

function isMarker(type: RunMark['type']): type is keyof typeof MARKER {
  return type in MARKER;
}

function markLine({ text, stretches, links }: PlainLine, syntax: MarkerSyntax): string {
  const isPlain = stretches.length === 0 && links.length === 0 && !/[*_~`]/.test(text);
  if (isPlain) return syntax.escape(text, 'text', '');
  const { marks, addresses } = resolveFormatSpans(text, stretches, links);
  const inBare = createSpanChecker(links.filter((link) => isBareUrl(text, link)));
  const accidents = findAccidentalMarks(text, marks, addresses).filter((at) => !inBare(at));
  const isCode = createSpanChecker(marks.filter(({ type }) => type === 'code'));
  const hasTicks = findLiteralMarkers(text, marks).some((at) => text[at] === '`');
  const codePlace = hasTicks ? 'code-beside-ticks' : 'code';
  const escapeText = (from: number, to: number) => {
    const place = isCode(from) ? codePlace : 'text';
    return syntax.escape(text.slice(from, to), place, text.slice(to, to + MAX_TOKEN));
  };
  const insertions = [
    ...listGuards(accidents, syntax),
    ...marks.toReversed().map(({ type, to }) => ({ at: to, text: MARKER[type], rank: 1 })),
    ...marks.map(({ type, from }) => ({ at: from, text: MARKER[type], rank: 2 })),
  ].sort((a, b) => a.at - b.at || a.rank - b.rank);
  return insertTokens({ text, insertions, links, escapeText, syntax });
}

/** The longest text that could be a token by accident, in UTF-16 units; link texts are shorter. */
const MAX_TOKEN = 600;

function isBareUrl(text: string, { url, from, to }: LinkSpan): boolean {
  return to - from === url.length && text.startsWith(url, from) && BARE.test(url);
}

/** A URL without characters that would have to be encoded in a token. */
const BARE = /^[^\s<>|`\p{Cc}\p{Cf}]+$/u;

/** Text inserted between two characters of a line; at the same position, lower ranks come first. */
interface Insertion {
  readonly at: number;
  readonly text: string;
  readonly rank: number;
}

function listGuards(places: readonly number[], { guards }: MarkerSyntax): Insertion[] {
  const before = new Set(places);
  const all = places.flatMap((at) => (guards === 'around' ? [at, at + 1] : [at]));
  // One invisible character is enough between two markers.
  return [...new Set(all)].map((at) => ({
    at,
    text: WORD_JOINER,
    rank: before.has(at) ? AFTER_LINK_START : BEFORE_LINK_END,
  }));
}

/** Keeps each marker in this text literal, whatever the adjacent text is. */
export function guardMarkers(text: string, { guards }: Pick<MarkerSyntax, 'guards'>): string {
  const after = guards === 'around' ? WORD_JOINER : '';
  return text.replaceAll(/[*_~`]/g, (marker) => WORD_JOINER + marker + after);
}

/** The ranks of insertions at the edge of a link that are inside the link. */
const BEFORE_LINK_END = 0;
const AFTER_LINK_START = 3;

interface MarkedLine {
  readonly text: string;
  readonly insertions: readonly Insertion[];
  readonly links: readonly LinkSpan[];
  readonly escapeText: (from: number, to: number) => string;
  readonly syntax: MarkerSyntax;
}

function insertTokens({ text, insertions, links, escapeText, syntax }: MarkedLine): string {
  let next = 0;
  const write = (start: number, end: number, maxRankAtEnd: number): string => {
    let out = '';
    let from = start;
    for (; next < insertions.length; next += 1) {
      const insertion = insertions[next];
      if (insertion === undefined || insertion.at > end) break;
      if (insertion.at === end && insertion.rank > maxRankAtEnd) break;
      if (insertion.at > from) out += escapeText(from, insertion.at);
      out += insertion.text;
      from = insertion.at;
    }
    return from < end ? out + escapeText(from, end) : out;
  };
  let out = '';
  let from = 0;
  for (const link of links) {
    out += write(from, link.from, AFTER_LINK_START - 1);
    const shown = isBareUrl(text, link) ? undefined : write(link.from, link.to, BEFORE_LINK_END);
    out += syntax.link?.(link.url, shown) ?? shown ?? '';
    from = link.to;
  }
  return out + write(from, text.length, AFTER_LINK_START);
}
