import {
  endOfRun,
  isSpace,
  type Rule,
  startsIndentedLine,
  startsLine,
  type Taken,
} from './markdown-rule.ts';

/** `#`, `##` or `###`, white space and a text that does not begin with `#`; closing `#` are dropped. */
export const readHeading: Rule = (source, at, state, read) => {
  if (!state.headings || !startsLine(state)) return undefined;
  const mark = endOfRun(source, at, ' ');
  const after = endOfRun(source, mark, '#');
  const level = after - mark;
  if (level < 1 || level > 3) return undefined;
  const from = headingStart(source, after);
  if (from === undefined) return undefined;
  const lineEnd = endOfLine(source, from);
  const to = Math.max(from + 1, headingEnd(source, from, lineEnd));
  const children = read(source.slice(from, to).trim(), { ...state, inline: true });
  const end = endBehindHeading(source, endOfRun(source, to, '#'));
  return { end, nodes: [{ type: 'heading', level, children }] };
};

/** Behind all white space, unless `#` or nothing follows: then a part of the space is the text. */
function headingStart(source: string, after: number): number | undefined {
  let from = after;
  while (isSpace(source[from])) from += 1;
  if (from === after) return undefined;
  if (from < source.length && source[from] !== '#') return from;
  for (let back = from - 1; back > after; back -= 1) if (source[back] !== '\n') return back;
  return undefined;
}

function headingEnd(source: string, from: number, lineEnd: number): number {
  let to = from + source.slice(from, lineEnd).trimEnd().length;
  while (source[to - 1] === '#') to -= 1;
  return to;
}

/** The white space behind a heading belongs to it up to its last line end. */
function endBehindHeading(source: string, at: number): number {
  let end = at;
  while (isSpace(source[end])) end += 1;
  return end >= source.length ? end : source.lastIndexOf('\n', end - 1) + 1;
}

/** `-# ` and a text. */
export const readSubtext: Rule = (source, at, state, read) => {
  if (!state.subtexts || !startsLine(state) || !source.startsWith('-# ', at)) return undefined;
  const lineEnd = endOfLine(source, at);
  let from = endOfRun(source, at + 2, ' ');
  // Where `-#` or nothing follows, one of several spaces counts as text.
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

/** A fence of three backticks, closed by the very next three, wherever both stand. */
export const readCodeBlock: Rule = (source, at) => {
  if (!source.startsWith('```', at)) return undefined;
  LANGUAGE.lastIndex = at + 3;
  const language = LANGUAGE.exec(source)?.[0] ?? '';
  const named = readFenced(source, at + 3 + language.length, language.trimEnd());
  return named ?? (language === '' ? undefined : readFenced(source, at + 3, ''));
};

function readFenced(source: string, at: number, language: string): Taken | undefined {
  const from = endOfRun(source, at, '\n');
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

/** Lines that begin with `> `, or all that follows `>>> `; not in another quote. */
export const readQuote: Rule = (source, at, state, read) => {
  if (state.inQuote || !startsIndentedLine(state)) return undefined;
  REST.lastIndex = at;
  if (REST.test(source)) {
    const content = source.slice(at).replace(/^ *>>> ?/, '');
    const children = read(content, { ...state, inQuote: true });
    return { end: source.length, nodes: [{ type: 'quote', children }] };
  }
  const end = endOfQuote(source, at);
  if (end === undefined) return undefined;
  const content = source.slice(at, end).replaceAll(/^ *> ?/gm, '');
  const children = read(content, { ...state, inQuote: true, inline: true });
  return { end, nodes: [{ type: 'quote', children }] };
};

function endOfQuote(source: string, at: number): number | undefined {
  let end: number | undefined;
  QUOTED_LINE.lastIndex = at;
  while (QUOTED_LINE.test(source)) {
    end = QUOTED_LINE.lastIndex;
    if (source[end] !== '\n') return end;
    QUOTED_LINE.lastIndex = end + 1;
  }
  return end === undefined ? undefined : Math.min(end + 1, source.length);
}

/** In a list item with empty lines: the text up to the next empty line. */
export const readParagraph: Rule = (source, at, state, read) => {
  if (state.inline) return undefined;
  const gap = /\n *(?=\n)/g;
  gap.lastIndex = at;
  const found = gap.exec(source);
  if (found === null || found.index === at) return undefined;
  const children = read(source.slice(at, found.index), { ...state, inline: true });
  const end = endOfBlankLines(source, found.index);
  return { end, nodes: [{ type: 'paragraph', children }] };
};

/** In a list item with empty lines: line ends between the paragraphs. */
export const readBlankLines: Rule = (source, at, state) => {
  if (state.inline || source[at] !== '\n') return undefined;
  return { end: endOfBlankLines(source, at), nodes: [{ type: 'text', text: '\n' }] };
};

/** Behind the last line end of lines that hold nothing but spaces. */
function endOfBlankLines(source: string, at: number): number {
  let end = at;
  let here = at;
  while (source[here] === '\n' || source[here] === ' ') {
    if (source[here] === '\n') end = here + 1;
    here += 1;
  }
  return end;
}

function endOfLine(source: string, at: number): number {
  const end = source.indexOf('\n', at);
  return end < 0 ? source.length : end;
}
