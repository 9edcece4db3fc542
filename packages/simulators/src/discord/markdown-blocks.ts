import {
  type DiscordNode,
  findRunEnd,
  isSpace,
  type MarkdownRule,
  type ReadState,
  type RuleMatch,
  startsIndentedLine,
  startsLine,
} from './markdown.ts';

/**
 * Matches a heading: `#`, `##` or `###`, white space, and text that does not start with `#`; a
 * closing `#` is dropped.
 */
export const readHeading: MarkdownRule = (source, at, state, read) => {
  if (!state.headings || !startsLine(state)) return undefined;
  const mark = findRunEnd(source, at, ' ');
  const after = findRunEnd(source, mark, '#');
  const level = after - mark;
  if (level < 1 || level > 3) return undefined;
  const from = findHeadingStart(source, after);
  if (from === undefined) return undefined;
  const lineEnd = findLineEnd(source, from);
  const to = Math.max(from + 1, findHeadingEnd(source, from, lineEnd));
  const children = read(source.slice(from, to).trim(), { ...state, inline: true });
  const end = skipSpaceAfterHeading(source, findRunEnd(source, to, '#'));
  return { end, nodes: [{ type: 'heading', level, children }] };
};

/**
 * The text of a heading starts after all white space. If only `#` or nothing follows, part of the
 * white space becomes the text.
 */
function findHeadingStart(source: string, after: number): number | undefined {
  let from = after;
  while (isSpace(source[from])) from += 1;
  if (from === after) return undefined;
  if (from < source.length && source[from] !== '#') return from;
  for (let back = from - 1; back > after; back -= 1) if (source[back] !== '\n') return back;
  return undefined;
}

function findHeadingEnd(source: string, from: number, lineEnd: number): number {
  let to = from + source.slice(from, lineEnd).trimEnd().length;
  while (source[to - 1] === '#') to -= 1;
  return to;
}

/** White space after a heading belongs to the heading up to the last line end. */
function skipSpaceAfterHeading(source: string, at: number): number {
  let end = at;
  while (isSpace(source[end])) end += 1;
  return end >= source.length ? end : source.lastIndexOf('\n', end - 1) + 1;
}

/** Matches subtext: `-# ` followed by text. */
export const readSubtext: MarkdownRule = (source, at, state, read) => {
  if (!state.subtexts || !startsLine(state) || !source.startsWith('-# ', at)) return undefined;
  const lineEnd = findLineEnd(source, at);
  let from = findRunEnd(source, at + 2, ' ');
  // If only `-#` or nothing follows, one of several spaces counts as the text.
  if (from >= lineEnd || source.startsWith('-#', from)) from -= 1;
  if (from <= at + 2) return undefined;
  const children = read(source.slice(from, lineEnd).trim(), {
    ...state,
    inline: true,
    subtexts: false,
  });
  return { end: Math.min(lineEnd + 1, source.length), nodes: [{ type: 'subtext', children }] };
};

const LANGUAGE = /[a-z0-9_+\-.#]+\n/iy;

/**
 * Matches a fence of three backticks, closed by the next three; both may occur anywhere in a line.
 */
export const readCodeBlock: MarkdownRule = (source, at) => {
  if (!source.startsWith('```', at)) return undefined;
  LANGUAGE.lastIndex = at + 3;
  const language = LANGUAGE.exec(source)?.[0] ?? '';
  const named = matchFencedBlock(source, at + 3 + language.length, language.trimEnd());
  return named ?? (language === '' ? undefined : matchFencedBlock(source, at + 3, ''));
};

function matchFencedBlock(source: string, at: number, language: string): RuleMatch | undefined {
  const from = findRunEnd(source, at, '\n');
  const close = source.indexOf('```', from + 1);
  if (close < 0) return undefined;
  let to = close;
  while (to > from + 1 && source[to - 1] === '\n') to -= 1;
  return {
    end: close + 3,
    nodes: [{ type: 'codeBlock', language, text: source.slice(from, to) }],
  };
}

const REST = / *>>> +/y;
const QUOTED_LINE = / *>(?!>>) +[^\n]*/y;

/** Matches a quote: lines that start with `> `, or everything after `>>> `; quotes do not nest. */
export const readQuote: MarkdownRule = (source, at, state, read) => {
  if (state.inQuote || !startsIndentedLine(state)) return undefined;
  REST.lastIndex = at;
  if (REST.test(source)) {
    const content = source.slice(at).replace(/^ *>>> ?/, '');
    const children = read(content, { ...state, inQuote: true });
    return { end: source.length, nodes: [{ type: 'quote', children }] };
  }
  const end = findQuoteEnd(source, at);
  if (end === undefined) return undefined;
  const content = source.slice(at, end).replaceAll(/^ *> ?/gm, '');
  const children = read(content, { ...state, inQuote: true, inline: true });
  return { end, nodes: [{ type: 'quote', children }] };
};

function findQuoteEnd(source: string, at: number): number | undefined {
  let end: number | undefined;
  QUOTED_LINE.lastIndex = at;
  while (QUOTED_LINE.test(source)) {
    end = QUOTED_LINE.lastIndex;
    if (source[end] !== '\n') return end;
    QUOTED_LINE.lastIndex = end + 1;
  }
  return end === undefined ? undefined : Math.min(end + 1, source.length);
}

/** Matches a paragraph in a list item with empty lines, up to the next empty line. */
export const readParagraph: MarkdownRule = (source, at, state, read) => {
  if (state.inline) return undefined;
  const gap = /\n *(?=\n)/g;
  gap.lastIndex = at;
  const found = gap.exec(source);
  if (found === null || found.index === at) return undefined;
  const children = read(source.slice(at, found.index), { ...state, inline: true });
  const end = skipBlankLines(source, found.index);
  return { end, nodes: [{ type: 'paragraph', children }] };
};

/** Matches the line ends between the paragraphs of a list item. */
export const readBlankLines: MarkdownRule = (source, at, state) => {
  if (state.inline || source[at] !== '\n') return undefined;
  return { end: skipBlankLines(source, at), nodes: [{ type: 'text', text: '\n' }] };
};

/** Returns the position after the last line end of a run of blank lines. */
function skipBlankLines(source: string, at: number): number {
  let end = at;
  let here = at;
  while (source[here] === '\n' || source[here] === ' ') {
    if (source[here] === '\n') end = here + 1;
    here += 1;
  }
  return end;
}

function findLineEnd(source: string, at: number): number {
  const end = source.indexOf('\n', at);
  return end < 0 ? source.length : end;
}

/** The maximum list depth that the client renders. */
const MAX_LEVEL = 11;
const MAX_START = 1_000_000_000;
const MARKER = /( *)([*-]|\d+\.) /y;

/**
 * Matches lists with `-`, `*` or `1.`, according to the client's rules of 2026. Bullets and numbers
 * mix in one list, and the first marker decides its kind. The list ends at a line that is neither
 * indented nor an item, so an empty line ends it too. An item ends where the next one starts,
 * indented like the first item or one space further.
 */
export const readList: MarkdownRule = (source, at, state, read) => {
  if (state.listLevel >= MAX_LEVEL) return undefined;
  const from = findListStart(source, at, state);
  const marker = from === undefined ? undefined : matchMarkerAt(source, from);
  if (from === undefined || marker === undefined) return undefined;
  const end = findListEnd(source, from, marker.indent);
  if (end === undefined) return undefined;
  const text = source.slice(from, end).replace(/\n{2,}$/, '\n');
  const ordered = marker.sign.length > 1;
  const start = Math.min(MAX_START, Math.max(1, Number.parseInt(marker.sign, 10)));
  let loose = false;
  const contents = splitItems(text, marker.indent.length).map((item, index, all) => {
    const content = getItemContent(item, marker.width);
    loose = content.includes('\n\n') || (index === all.length - 1 && loose);
    return { content: content.replace(/ *\n$/, loose ? '\n\n' : ''), loose };
  });
  const items = contents.map((item) =>
    read(item.content, {
      ...state,
      inline: !item.loose,
      headings: false,
      listLevel: state.listLevel + 1,
    }),
  );
  return {
    end,
    nodes: [
      {
        type: 'list',
        start: ordered ? start : undefined,
        items: items.map((item) => item.map(stripLineEnd)),
        joined: items.some(joinsLines),
        loose: contents.some((item) => item.loose),
      },
    ],
  };
};

/**
 * A list starts at the start of a line; `at` may also be the line end before it, unless another
 * line end precedes `at`.
 */
function findListStart(source: string, at: number, state: ReadState): number | undefined {
  if (source[at] !== '\n') return startsIndentedLine(state) ? at : undefined;
  return startsIndentedLine(state) ? undefined : at + 1;
}

function matchMarkerAt(source: string, at: number) {
  MARKER.lastIndex = at;
  const [whole, indent, sign] = MARKER.exec(source) ?? [];
  if (whole === undefined || indent === undefined || sign === undefined) return undefined;
  return { indent, sign, width: findRunEnd(source, at + whole.length, ' ') - at };
}

function findListEnd(source: string, at: number, indent: string): number | undefined {
  const text = at + indent.length;
  let end = source.indexOf(' ', text) + 2;
  if (end > source.length) return undefined;
  end = source.indexOf('\n', end);
  while (end >= 0) {
    const next = end + 1;
    const isItem = source.startsWith(indent, next) && isMarker(source, next + indent.length);
    if (source[next] !== ' ' && !isItem) return next;
    end = source.indexOf('\n', next);
  }
  return source.length;
}

/** Splits a list before every line that is an item at its level. */
function splitItems(text: string, indent: number): string[] {
  const items: string[] = [];
  let from = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) {
    const spaces = findRunEnd(text, at + 1, ' ') - at - 1;
    if (spaces < indent || spaces > indent + 1 || !isMarker(text, at + 1 + spaces)) continue;
    items.push(text.slice(from, at + 1));
    from = at + 1;
  }
  if (from < text.length) items.push(text.slice(from));
  return items;
}

function isMarker(text: string, at: number): boolean {
  MARKER.lastIndex = at;
  return text[at] !== ' ' && MARKER.test(text);
}

/**
 * The text of an item without its marker and without indentation, up to the width of the list's
 * first marker.
 */
function getItemContent(item: string, width: number): string {
  return item.replace(/^ *(?:[*-]|\d+\.) +/, '').replaceAll(new RegExp(`^ {1,${width}}`, 'gm'), '');
}

const LINE_END = /\n+\s*$/;
const BLOCKS: readonly string[] = ['list', 'quote', 'codeBlock', 'subtext'];

/**
 * The client strips trailing line ends from every text directly inside an item, although only line
 * ends before blocks should be stripped.
 */
function stripLineEnd(node: DiscordNode): DiscordNode {
  return node.type === 'text' ? { ...node, text: node.text.replace(LINE_END, '') } : node;
}

function joinsLines(item: readonly DiscordNode[]): boolean {
  return item.some((node, index) => {
    if (node.type !== 'text' || !LINE_END.test(node.text)) return false;
    const next = item[index + 1];
    const isFirst = index === 0 && node.text.trim() === '';
    return !isFirst && next !== undefined && !BLOCKS.includes(next.type);
  });
}
