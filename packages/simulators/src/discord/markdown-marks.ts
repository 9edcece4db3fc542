import {
  type DiscordNode,
  findRunEnd,
  isSpace,
  isWordCharacter,
  type MarkdownRule,
  type MarkType,
} from './markdown.ts';

/** The end of a mark's content and the position where parsing continues. */
interface MarkExtent {
  readonly contentEnd: number;
  readonly end: number;
}

/**
 * Matches `*italic*`, `_italic_`, `**bold**`, `__underline__` and `~~strike~~`. When several marks
 * match at one position, the longest match wins; ties go to italic, then bold, as in Discord's
 * rules.
 */
export const readMark: MarkdownRule = (source, at, state, read) => {
  if (!state.inline) return undefined;
  const candidates: {
    type: MarkType;
    from: number;
    extent: MarkExtent | undefined;
    bonus: number;
  }[] = [
    { type: 'italic', from: at + 1, extent: matchItalic(source, at), bonus: 0.2 },
    { type: 'bold', from: at + 2, extent: matchPair(source, at, '**'), bonus: 0.1 },
    { type: 'underline', from: at + 2, extent: matchPair(source, at, '__'), bonus: 0 },
    { type: 'strike', from: at + 2, extent: matchStrike(source, at), bonus: 0 },
  ];
  // Does not apply to the text of a link, where only the stricter italic is parsed.
  if (!state.onlyMarks) {
    candidates.push({
      type: 'italic',
      from: at + 1,
      extent: matchStarItalic(source, at, true),
      bonus: 0.2,
    });
  }
  let best: { type: MarkType; from: number; extent: MarkExtent; quality: number } | undefined;
  for (const { type, from, extent, bonus } of candidates) {
    if (extent === undefined) continue;
    const quality = extent.end - at + bonus;
    if (best === undefined || quality > best.quality) best = { type, from, extent, quality };
  }
  if (best === undefined) return undefined;
  const { type, from, extent } = best;
  const children = read(source.slice(from, extent.contentEnd), state);
  return { end: extent.end, nodes: [{ type, children }] };
};

/** Matches `||spoiler||`, which ignores backslashes and has the lowest priority. */
export const readSpoiler: MarkdownRule = (source, at, state, read) => {
  if (!source.startsWith('||', at)) return undefined;
  const close = source.indexOf('||', at + 3);
  if (close < 0) return undefined;
  const children = read(source.slice(at + 2, close), state);
  return { end: close + 2, nodes: [{ type: 'spoiler', children }] };
};

/** Matches `code` between backtick runs of equal length; shorter runs are tried if none match. */
export const readCode: MarkdownRule = (source, at, { inline }) => {
  if (!inline || source[at] !== '`') return undefined;
  const opening = findRunEnd(source, at, '`');
  for (let length = opening - at; length > 0; length -= 1) {
    let close = source.indexOf('`', opening);
    while (close >= 0) {
      const end = findRunEnd(source, close, '`');
      if (end - close === length) {
        const text = source.slice(at + length, close);
        return { end, nodes: [{ type: 'code', text: stripPadding(text) }] };
      }
      close = source.indexOf('`', end);
    }
  }
  return undefined;
};

/**
 * A single space next to a backtick at either end only separates the backticks and is not shown.
 */
function stripPadding(text: string): string {
  const start = /^ +`/.test(text) ? text.slice(1) : text;
  return /` +$/.test(start) ? start.slice(0, -1) : start;
}

function matchItalic(source: string, at: number): MarkExtent | undefined {
  return source[at] === '_'
    ? matchUnderscoreItalic(source, at)
    : matchStarItalic(source, at, false);
}

/** Matches `_text_`, closed by a single underscore at the end of a word. */
function matchUnderscoreItalic(source: string, at: number): MarkExtent | undefined {
  let here = at + 1;
  while (here < source.length) {
    if (source[here] !== '_') here += source[here] === '\\' ? 2 : 1;
    else if (here > at + 1 && !isWordCharacter(source[here + 1]))
      return { contentEnd: here, end: here + 1 };
    else if (source[here + 1] === '_') here += 2;
    else return undefined;
  }
  return undefined;
}

/**
 * Matches `*text*`, whose text has no white space at either end; pairs of stars do not close it.
 * @param loose allows one or two spaces before the closing star
 */
function matchStarItalic(source: string, at: number, loose: boolean): MarkExtent | undefined {
  if (source[at] !== '*' || at + 1 >= source.length || isSpace(source[at + 1])) return undefined;
  let here = at + 1;
  while (here < source.length) {
    if (here > at + 1) {
      const star = loose ? findStarAfterSpaces(source, here) : here;
      if (star !== undefined && isLoneStar(source, star))
        return { contentEnd: here, end: star + 1 };
    }
    const next = skipStarredAtom(source, here);
    if (next === undefined) return undefined;
    here = next;
  }
  return undefined;
}

function findStarAfterSpaces(source: string, at: number): number | undefined {
  const star = findRunEnd(source, at, ' ');
  return star - at === 1 || star - at === 2 ? star : undefined;
}

function isLoneStar(source: string, at: number): boolean {
  return source[at] === '*' && source[at + 1] !== '*';
}

/**
 * Skips a pair of stars, an escaped character or any other character; white space is skipped only
 * before one of these.
 */
function skipStarredAtom(source: string, at: number): number | undefined {
  let here = at;
  while (isSpace(source[here])) here += 1;
  if (source.startsWith('**', here)) return here + 2;
  if (source[here] === '\\') return here + 1 < source.length ? here + 2 : undefined;
  return here < source.length && source[here] !== '*' ? here + 1 : undefined;
}

/**
 * Matches `**text**` and `__text__`, which close at the next pair that is not followed by a third
 * such character.
 */
function matchPair(source: string, at: number, mark: '**' | '__'): MarkExtent | undefined {
  if (!source.startsWith(mark, at)) return undefined;
  let here = at + 2;
  while (here < source.length) {
    const isEnd = source.startsWith(mark, here) && source[here + 2] !== mark[0];
    if (here > at + 2 && isEnd) return { contentEnd: here, end: here + 2 };
    if (source[here] === '\\' && here + 1 >= source.length) return undefined;
    here += source[here] === '\\' ? 2 : 1;
  }
  return undefined;
}

/**
 * Matches `~~text~~`, which ignores backslashes and whose closing pair must not be followed by an
 * underscore.
 */
function matchStrike(source: string, at: number): MarkExtent | undefined {
  if (!source.startsWith('~~', at)) return undefined;
  let close = source.indexOf('~~', at + 3);
  while (close >= 0 && source[close + 2] === '_') close = source.indexOf('~~', close + 1);
  return close < 0 ? undefined : { contentEnd: close, end: close + 2 };
}

/** Matches a backslash before any character except ASCII letters, digits and white space. */
export const readEscape: MarkdownRule = (source, at, { inline, escapes }) => {
  if (!inline || !escapes || source[at] !== '\\' || at + 1 >= source.length) return undefined;
  const character = String.fromCodePoint(source.codePointAt(at + 1) ?? 0);
  if (/[0-9A-Za-z\s]/.test(character)) return undefined;
  const text = character;
  return { end: at + 1 + character.length, nodes: [{ type: 'text', text, escaped: true }] };
};

/** Matches the shrug `¯\_(ツ)_/¯`, whose backslash needs no escape. */
export const readShrug: MarkdownRule = (source, at) => {
  const text = '¯\\_(ツ)_/¯';
  if (!source.startsWith(text, at)) return undefined;
  return { end: at + text.length, nodes: [{ type: 'text', text }] };
};

/** Matches at least two spaces before a line end. */
export const readBreak: MarkdownRule = (source, at) => {
  const end = findBreakEnd(source, at);
  return end === undefined ? undefined : { end, nodes: [{ type: 'text', text: '\n' }] };
};

function findBreakEnd(source: string, at: number): number | undefined {
  if (source[at] !== ' ' || source[at + 1] !== ' ') return undefined;
  let end = at;
  while (source[end] === ' ') end += 1;
  return source[end] === '\n' ? end + 1 : undefined;
}

/** Matches plain text with its emoji, up to the next position where another rule might match. */
export const readText: MarkdownRule = (source, at) => {
  let end = at + 1;
  // The end of the last word checked; `word:x` cannot start before it.
  let plainUntil = 0;
  for (; end < source.length && !isStop(source, end); end += 1) {
    if (end < plainUntil || !isWordCharacter(source[end])) continue;
    plainUntil = findWordEnd(source, end);
    if (source[plainUntil] === ':' && !isSpace(source[plainUntil + 1] ?? ' ')) break;
  }
  return { end, nodes: splitEmoji(source.slice(at, end)) };
};

/** Whether plain text stops here: before punctuation, empty lines, breaks and `1.`. */
function isStop(source: string, at: number): boolean {
  const character = source[at] ?? '';
  if (character === '\n') return source[at + 1] === '\n';
  if (character === ' ') return findBreakEnd(source, at) !== undefined;
  if (/[0-9A-Za-z]/.test(character)) return DIGITS_AND_DOT.test(source.slice(at, at + 12));
  return !isSpace(character) && character < '\u00c0';
}

const DIGITS_AND_DOT = /^\d+\./;

function findWordEnd(source: string, at: number): number {
  let end = at;
  while (isWordCharacter(source[end])) end += 1;
  return end;
}

/** The client's list of emoji follows Unicode's list of recommended emoji sequences. */
const EMOJI = /(\p{RGI_Emoji})/v;

function splitEmoji(text: string): DiscordNode[] {
  return text
    .split(EMOJI)
    .map((part, index): DiscordNode => ({ type: index % 2 === 0 ? 'text' : 'emoji', text: part }))
    .filter((node) => 'text' in node && node.text !== '');
}
