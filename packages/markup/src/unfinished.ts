/*
 * An unfinished answer is completed or shortened at its end, so that it can be rendered like any
 * other. The code examines lines and characters, without the parser; where Markdown's rules are
 * subtler, the worst outcome is a visible mark character until the next update.
 */

/** Matches half a surrogate pair or half a line break. */
const HALF_CHARACTER = /[\r\ud800-\udbff]$/;
/** Matches indent, quote marks and list markers. */
const PREFIX = /^(?:[ \t>]|(?:[-*+]|\d{1,9}[.)])(?=[ \t]))*/;
/**
 * Matches text that may still become a list marker, heading, rule, underline, fence, row, delimiter
 * row or task.
 */
const HALF_LINE = /^(?:[-*+_=#~`|$>]+|\\\[?|\d{1,9}[.)]?|[|:\- \t]+|\[[ xX]?\]?)$/;
const OPENS_FENCE = /^(?:(`{3,})[^`]*|(~{3,}).*)$/;

/**
 * The Markdown with formatting closed, and without incomplete characters, links, rows and lines.
 */
export function completeMarkdown(markdown: string): string {
  const lines = markdown.replace(HALF_CHARACTER, '').split('\n');
  const fence = findClosingFence(lines.slice(0, -1));
  if (fence !== undefined) {
    const last = withoutMarkers(lines.at(-1)).trim();
    const isHalfFence = last !== '' && last !== fence && fence.startsWith(last);
    return (isHalfFence ? lines.slice(0, -1) : lines).join('\n');
  }
  dropIncompleteLines(lines);
  const start = findStartOfText(lines);
  if (start === undefined) return lines.join('\n');
  const before = lines.slice(0, start.line).map((line) => `${line}\n`);
  const [first = '', ...others] = lines.slice(start.line);
  const text = [first.slice(start.column), ...others].join('\n');
  return before.join('') + first.slice(0, start.column) + closeMarks(text);
}

/** The fence that closes the code block at the end of the text, if there is one. */
function findClosingFence(lines: readonly string[]): string | undefined {
  let closing: string | undefined;
  for (const line of lines) {
    const content = withoutMarkers(line).trim();
    if (closing === undefined) {
      // A fence without its line end may still get a language.
      const [, ticks, tildes] = OPENS_FENCE.exec(content) ?? [];
      closing = ticks ?? tildes;
    } else if (content.startsWith(closing) && /^(?:`+|~+)$/.test(content)) {
      closing = undefined;
    }
  }
  return closing;
}

/**
 * Removes the last line while its meaning is undecided (it would flicker), and a header row until
 * the delimiter row is complete.
 */
function dropIncompleteLines(lines: string[]): void {
  const last = lines.at(-1) ?? '';
  const content = withoutMarkers(last).trim();
  const isHalf = content === '' ? last.trim() !== '' : HALF_LINE.test(content);
  const header = lines.length - (isHalf || last === '' ? 2 : 1);
  if (isRow(lines[header]) && !isRow(lines[header - 1])) lines.length = header;
  else if (isHalf) lines.pop();
}

/** The beginning of the last block's text; undefined if no later text can belong to the block. */
function findStartOfText(
  lines: readonly string[],
): { readonly line: number; readonly column: number } | undefined {
  const isOver = lines.at(-1) === '';
  const last = isOver ? lines.length - 2 : lines.length - 1;
  const text = lines[last] ?? '';
  const row = findLastBar(text);
  const endsWithRow = isRow(text);
  if (
    withoutMarkers(text) === '' ||
    isFence(withoutMarkers(text)) ||
    (isOver && (endsWithRow || isHeading(text)))
  )
    return undefined;
  if (endsWithRow) return { line: last, column: row + 1 };
  let line = last;
  while (!beginsText(lines[line]) && !isHeading(lines[line - 1])) line -= 1;
  return { line, column: containerMarkers(lines[line]).length };

  function beginsText(own: string | undefined): boolean {
    const above = withoutMarkers(lines[line - 1]);
    return /[^\s>]/.test(containerMarkers(own)) || isHeading(own) || above === '' || isFence(above);
  }
}

/** The position of the last unescaped bar; -1 if there is none. */
function findLastBar(text: string): number {
  let bar = -1;
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '|') bar = at;
  }
  return bar;
}

const isRow = (line = '') => /^\|(?!\|)/.test(withoutMarkers(line));
const isHeading = (line = '') => /^#{1,6}\s/.test(withoutMarkers(line));
const isFence = (content: string) => /^(?:```|~~~)/.test(content);
const containerMarkers = (line = '') => PREFIX.exec(line)?.[0] ?? '';
const withoutMarkers = (line = '') => line.slice(containerMarkers(line).length);

/**
 * Matches an unfinished element at the very end: an escape, a bar or tilde, a character reference,
 * a tag, a footnote's name.
 */
const HALF_END =
  /(?:\\|(?<!\|)\||(?<!~)~|&(?:#?\w{0,8})?|<(?:\/?(?:u|i|in|ins)?|br?\s*\/?)|\[\^[^\s\]]*\]?)$/i;
const HALF_AUTOLINK = /<(?=[a-z][a-z\d+.-]{1,31}:[^\s<>]*$)/i;
/** The range from the `]` of a link whose address is incomplete. */
const HALF_LINK =
  /^\](?:\((?:\\.|[^()\s\\]|\((?:(?:\\.|[^()\s\\])*\))?)*(?:\s+(?:["'(][^"')]*)?)?|\[[^\]]*)?$/;

/** Characters with a meaning inside a paragraph; only the named characters change the output. */
const SIGNS = new RegExp(
  [
    /\\\([^`]*?\\\)|\\\[[^`]*?\\\]|\\[^\w\s([]/,
    /(?<ticks>`+)(?!`)[\s\S]*?(?<!`)\k<ticks>(?!`)/,
    /<[a-z][a-z\d+.-]{1,31}:[^\s<>]*>/,
    /(?<![\p{L}\p{N}$])(?<dollars>\${1,2})(?![\s$])[^$`]*[^\s$`]\k<dollars>(?![\p{L}\p{N}$])/u,
    /(?<link>\]\((?:\\.|[^()\s\\]|\([^()\s]*\))*(?:\s+(?:"[^"]*"|'[^']*'|\([^)]*\)))?\s*\)|\]\[[^\]]*\])/,
    /(?<end>\])/,
    /(?<mark>\*+|_+|~~|\|\||`+|<u>|<ins>|\\[([]|(?<![\p{L}\p{N}$])\$\$(?!\$|\*\*)|!?\[)/u,
    /(?<tag><\/u>|<\/ins>)/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'giu',
);

interface OpenMark {
  readonly mark: string;
  readonly at: number;
}

const CLOSING: Readonly<Record<string, string>> = {
  '<u>': '</u>',
  '<ins>': '</ins>',
  '\\(': '\\)',
  '\\[': '\\]',
};

/** Closes the formatting of a paragraph that is still being written. */
function closeMarks(paragraph: string): string {
  const text = paragraph.trimEnd().replace(HALF_END, '').replace(HALF_AUTOLINK, '');
  const open: OpenMark[] = [];
  let out = '';
  let from = 0;
  for (const { 0: sign, index, groups = {} } of text.matchAll(SIGNS)) {
    const { link, end, mark, tag } = groups;
    out += text.slice(from, index);
    from = index + sign.length;
    const bracket = open.findLastIndex((one) => one.mark.endsWith('['));
    if (end !== undefined && bracket >= 0 && HALF_LINK.test(text.slice(index))) {
      from = text.length;
      break;
    }
    if (mark !== undefined) {
      const rest = text.slice(from);
      if (/^[`\\$]/.test(mark)) {
        // The text after the opening characters is code or math; such characters at the end begin
        // the closing ones.
        const inside = rest.replace(/(?<![`\\$])[`\\$]+$/, '');
        const whole = inside.trim() === '' ? '' : mark + inside + (CLOSING[mark] ?? mark);
        return closeAllMarks(out + whole, open);
      }
      out += /^[*_~|]/.test(mark)
        ? processMark(mark, { before: text[index - 1] ?? '', after: text[from] ?? '' }, open, out)
        : openMark(mark, open, out);
      continue;
    }
    if (tag !== undefined)
      closeTo(
        open,
        open.findLastIndex((one) => CLOSING[one.mark] === tag),
      );
    if (link !== undefined) closeTo(open, bracket);
    if (end !== undefined && bracket >= 0) open.splice(bracket, 1);
    out += sign;
  }
  return closeAllMarks(out + text.slice(from), open);
}

const closeTo = (open: OpenMark[], at: number) => {
  if (at >= 0) open.length = at;
};

/**
 * The maximum number of formats and brackets that are closed; the characters of outer formats
 * beyond it stay visible. Closing each one costs time proportional to the length of the text.
 */
const MAX_OPEN = 100;

function openMark(mark: string, open: OpenMark[], out: string): string {
  if (open.length === MAX_OPEN) open.shift();
  open.push({ mark, at: out.length });
  return mark;
}

const WORD = /[\p{L}\p{N}]/u;
const LATIN = /[\p{N}\p{Script=Latin}]/u;

/**
 * Reads a run of `*`, `_`, `~~` or `||`, which may close and open formats; returns the characters
 * to keep.
 */
function processMark(
  run: string,
  { before, after }: { readonly before: string; readonly after: string },
  open: OpenMark[],
  out: string,
): string {
  const [sign = ''] = run;
  const inWord = (sign === '*' ? LATIN : WORD).test(before);
  let left = run;
  const bracket = open.findLastIndex(({ mark }) => mark.endsWith('['));
  const mayClose = before.trim() !== '' && (sign !== '_' || !WORD.test(after));
  const innermost = open.findLast(({ mark }) => mark.startsWith(sign))?.mark ?? '';
  if (after === '' && run.length < innermost.length) return '';
  for (let at = 0; mayClose && left !== ''; left = left.slice(at)) {
    const index = open.findLastIndex(({ mark }) => left.startsWith(mark));
    if (index <= bracket) break;
    at = open[index]?.mark.length ?? left.length;
    open.length = index;
  }
  const kept = run.slice(0, run.length - left.length);
  // More text may follow at the very end.
  if (after === '' || left === '') return kept;
  if (after.trim() === '' || (inWord && (sign !== '*' || LATIN.test(after)))) return run;
  const first = left.length > 2 ? left.slice(0, 2) : left;
  const opened = kept + openMark(first, open, out + kept);
  const second = left.slice(first.length);
  return second === '' ? opened : opened + openMark(second, open, out + opened);
}

/** Closes the open formats, innermost first; a format without text is omitted. */
function closeAllMarks(text: string, open: readonly OpenMark[]): string {
  let out = text;
  for (const { mark, at } of open.toReversed()) {
    const inside = out.slice(at + mark.length).trimEnd();
    if (mark.endsWith('[') || inside === '') out = out.slice(0, at) + inside;
    else out = out.slice(0, at) + mark + inside + (CLOSING[mark] ?? mark);
  }
  return out.trimEnd();
}
