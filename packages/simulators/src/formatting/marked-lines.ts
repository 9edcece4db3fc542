import { hasCrossing, type Line, type LinkSpan, type ParsedMarks } from './read-marks.ts';

/** One line of a message as a phone renders it; a monospace run in a line may contain line ends. */
export type FormattedLine = Line & { readonly children: readonly Inline[] };

/** The lines of a message under one interpretation of its marks. */
export function buildLines(
  text: string,
  found: ParsedMarks,
  links: readonly LinkSpan[] = [],
): FormattedLine[] {
  return found.lines.map((line) => ({
    ...line,
    children: buildInlines(text, line, [...found.opaque, ...found.pairs, ...links]),
  }));
}

export type TextFormat =
  | 'bold'
  | 'italic'
  | 'strike'
  | 'code'
  | 'monospace'
  | 'quote'
  | 'bullet'
  | 'number';

/** Text with uniform formatting; the outermost format comes first. */
export interface FormatRun {
  readonly text: string;
  readonly formats: readonly TextFormat[];
  readonly link?: { readonly url: string };
}

export function toLineRuns(line: FormattedLine): FormatRun[] {
  const formats: TextFormat[] = line.kind === 'paragraph' ? [] : [line.kind];
  return line.children.flatMap((child) => toInlineRuns(child, formats));
}

function toInlineRuns(inline: Inline, formats: readonly TextFormat[]): FormatRun[] {
  switch (inline.type) {
    case 'text':
    case 'url':
      return [{ text: inline.text, formats }];
    case 'code':
    case 'monospace':
      return [{ text: inline.text, formats: [...formats, inline.type] }];
    case 'link':
      return [{ text: inline.text, formats, link: { url: inline.url } }];
    default: {
      const inside = [...formats, inline.type];
      return inline.children.flatMap((child) => toInlineRuns(child, inside));
    }
  }
}

export function getVisibleText(lines: readonly FormattedLine[]): string {
  return lines
    .map((line) => {
      const text = toLineRuns(line)
        .map((run) => run.text)
        .join('');
      if (line.kind === 'bullet') return `• ${text}`;
      return line.kind === 'number' ? `${line.number} ${text}` : text;
    })
    .join('\n');
}

/** A mark that can contain other marks. */
type MarkType = 'bold' | 'italic' | 'strike';

/** Inline content; `text` excludes markers. */
export type Inline =
  | { readonly type: 'text' | 'url' | 'code' | 'monospace'; readonly text: string }
  | { readonly type: 'link'; readonly text: string; readonly url: string }
  | { readonly type: MarkType; readonly children: readonly Inline[] };

type InlineNode = ParsedMarks['opaque'][number] | ParsedMarks['pairs'][number] | LinkSpan;

const MARKER_LENGTH = { monospace: 3, code: 1, url: 0, link: 0, bold: 1, italic: 1, strike: 1 };

/**
 * Builds a tree from the ranges and marks found in a line; of overlapping marks, only the first is
 * kept.
 */
function buildInlines(text: string, line: Line, all: readonly InlineNode[]): Inline[] {
  const nodes = all.filter((node) => node.from >= line.from && node.to <= line.to);
  nodes.sort((a, b) => a.from - b.from || b.to - a.to);
  return buildNodes(text, line.from, line.to, nodes);
}

function buildNodes(
  text: string,
  from: number,
  to: number,
  nodes: readonly InlineNode[],
): Inline[] {
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
      children.push({ type: node.type, children: buildNodes(text, ...inner, rest) });
    } else if (node.type === 'link') {
      children.push({ type: 'link', text: text.slice(...inner), url: node.url });
    } else children.push({ type: node.type, text: text.slice(...inner) });
    at = node.to;
  }
  plain(to);
  return children;
}

/** The parts of a text that the strict reading and another reading render differently. */
export function findAmbiguousText(text: string, strict: ParsedMarks, loose: ParsedMarks): string[] {
  const found: string[] = [];
  const nameOf = (a: { type: string; from: number; to: number }) => `${a.type} ${a.from} ${a.to}`;
  const certain = new Set([...strict.pairs, ...strict.opaque].map(nameOf));
  for (const node of [...loose.pairs, ...loose.opaque]) {
    if (node.type === 'url' || certain.has(nameOf(node))) continue;
    found.push(text.slice(node.from, node.to));
  }
  for (const [index, line] of loose.lines.entries()) {
    const other = strict.lines[index];
    if (line.kind !== other?.kind) found.push(text.slice(line.start, line.to));
  }
  for (const line of strict.lines) {
    if (isQuoteSplitByMonospace(text, line)) found.push(text.slice(line.start, line.to));
  }
  if (hasCrossing([...strict.pairs, ...strict.opaque])) found.push(text);
  return found;
}

/** Whether monospace spans several lines of a quote, on which clients disagree. */
function isQuoteSplitByMonospace(text: string, line: Line): boolean {
  return line.kind === 'quote' && text.slice(line.from, line.to).includes('\n');
}
