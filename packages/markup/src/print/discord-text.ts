import type { Run } from '../document.ts';
import {
  closeMark,
  endsLink,
  newLine,
  openMark,
  type Page,
  put,
  putLinkEnd,
  putRaw,
  touchesSign,
  ZERO_WIDTH_SPACE,
} from './discord-page.ts';
import {
  addressEnd,
  conflicts,
  type DiscordMark,
  type Piece,
  type Segment,
  SIGN_OF,
  toSegments,
} from './discord-segments.ts';
import { commonStart } from './lines.ts';

/** What stands before the other lines of a text, and whether Discord reads them as a list item's. */
export interface LineStart {
  readonly prefix: string;
  readonly inItem: boolean;
}

export function putRuns(page: Page, runs: readonly Run[], line: LineStart): void {
  const segments = toSegments(runs);
  putMarked(page, segments, (segment, index) => {
    const isLast = index === segments.length - 1;
    if (segment.kind === 'text') {
      putText(page, segment, { glued: goesOn(segments, index), isLast }, line);
    } else putSpan(page, segment, segment.kind === 'address' ? wordAfter(segments, index) : '');
  });
}

/** Whether the next segment follows this one without the end of a mark between them. */
function goesOn(segments: readonly Segment[], index: number): boolean {
  const marks = segments[index]?.marks ?? [];
  const next = segments[index + 1];
  return next !== undefined && commonStart(marks, next.marks).length === marks.length;
}

/** What stands behind a segment up to white space or the end of a mark; a star for all but text. */
function wordAfter(segments: readonly Segment[], index: number): string {
  let word = '';
  let at = index;
  while (goesOn(segments, at)) {
    at += 1;
    const next = segments[at];
    if (next?.kind !== 'text' || next.marks.length > (segments[index]?.marks.length ?? 0)) {
      return `${word}*`;
    }
    const space = next.text.search(/\s/);
    if (space >= 0) return word + next.text.slice(0, space);
    word += next.text;
  }
  return word;
}

/** Opens and closes marks between segments, innermost last and first. */
function putMarked<Kind extends Segment>(
  page: Page,
  segments: readonly Kind[],
  content: (segment: Kind, index: number) => void,
): void {
  let open: readonly DiscordMark[] = [];
  const closeTo = (depth: number) => {
    for (const mark of open.slice(depth).reverse()) closeMark(page, SIGN_OF[mark]);
  };
  for (const [index, segment] of segments.entries()) {
    const common = commonStart(open, segment.marks).length;
    closeTo(common);
    for (const mark of segment.marks.slice(common)) openMark(page, SIGN_OF[mark]);
    open = segment.marks;
    content(segment, index);
  }
  closeTo(0);
}

function putText(
  page: Page,
  { text, marks }: Piece,
  { glued, isLast }: { readonly glued: boolean; readonly isLast: boolean },
  { prefix, inItem }: LineStart,
): void {
  const lines = text.split('\n');
  for (const [index, line] of lines.entries()) {
    const isEnd = index === lines.length - 1;
    const shown = isEnd && !isLast ? line : line.trimEnd();
    if (index > 0) newLine(page, prefix, inItem);
    putLiteral(page, page.joins ? shown.trimStart() : shown, {
      marks,
      glued: glued && isEnd,
    });
  }
  countEmoji(page, text);
}

function putSpan(page: Page, segment: Exclude<Segment, { kind: 'text' }>, following: string): void {
  page.nodes += 1;
  switch (segment.kind) {
    case 'code':
      putCode(page, segment.text);
      break;
    case 'address':
      putAddress(page, segment.text, following);
      break;
    case 'masked':
      put(page, '[');
      putMarked(page, segment.inner, (piece) => {
        if (piece.kind === 'code') putCode(page, piece.text);
        else putRaw(page, piece.text);
      });
      putLinkEnd(page, segment.url);
      break;
  }
}

/** Backticks of one length on both sides; Discord takes three for a block, so one or two. */
function putCode(page: Page, text: string): void {
  const runs = new Set((text.match(/`+/g) ?? []).map(({ length }) => length));
  const tick = runs.has(1) ? '``' : '`';
  const inner = runs.has(1) ? text.replaceAll(/(?<!`)``(?!`)/g, '`\u200b`') : text;
  const start = /^ *`/.test(inner) ? ' ' : '';
  const end = /` *$/.test(inner) ? ' ' : '';
  if (touchesSign(page, '`')) put(page, ZERO_WIDTH_SPACE);
  putRaw(page, tick + start + inner + end + tick);
}

/** Bare where Discord finds exactly this address; in angle brackets otherwise, which cost the preview. */
function putAddress(page: Page, url: string, following: string): void {
  // A backslash before one of these would become part of the address.
  const isBare = addressEnd(url + following, 0) === url.length && !/[:<]/.test(following);
  if (!endsLink(page, url)) putRaw(page, isBare ? url : `<${url}>`);
  else putLiteral(page, url.replace('](', `]${ZERO_WIDTH_SPACE}(`), { marks: [], glued: false });
}

/** Every emoji has one of these in it, joined ones several: Discord counts no more than these. */
const PART_OF_EMOJI = /\p{Emoji_Presentation}|\ufe0f/gu;

function countEmoji(page: Page, text: string): void {
  page.nodes += text.match(PART_OF_EMOJI)?.length ?? 0;
}

interface LiteralPlace {
  readonly marks: readonly DiscordMark[];
  /** Whether code, a link or the beginning of a mark follows without white space. */
  readonly glued: boolean;
}

/** Signs that may be markup, and what Discord takes for an address. */
const SIGN = /[\\*_~|`<[:]|(?<=\])\(|@silent\b|(?:https?|steam):\/\//g;
/** What begins a block where a line starts; a heading's text may also stand on the next line. */
const BLOCK =
  /^([ \t]*)(#{1,6}(?=\s|$)|-#(?=[ \t])|[*-](?=[ \t])|>(?=[ \t])|>>>(?=[ \t])|\d+(?=\.[ \t]))/;

/** Writes text that is to be seen as it is. `text` has no line ends. */
export function putLiteral(page: Page, text: string, place: LiteralPlace): void {
  if (text === '') return;
  const { joins } = page;
  const behind = place.glued ? '*' : '';
  let from = page.startsLine && !joins ? putBlockSign(page, text) : 0;
  SIGN.lastIndex = from;
  for (let found = SIGN.exec(text); found !== null; found = SIGN.exec(text)) {
    const at = found.index;
    emit(page, text.slice(from, at), () => text.slice(from) + behind);
    from = putSign(page, text, at, place);
    SIGN.lastIndex = from;
  }
  emit(page, text.slice(from), () => text.slice(from) + behind);
}

function emit(page: Page, part: string, rest: () => string): void {
  if (part === '') return;
  const { startsLine } = page;
  const isBlank = part.trim() === '';
  put(page, part, page.joins ? rest() : part);
  page.startsLine = startsLine && isBlank;
}

function putBlockSign(page: Page, text: string): number {
  const [whole, indent = '', sign = ''] = BLOCK.exec(text) ?? [];
  if (whole === undefined) return 0;
  const digits = /\d/.test(sign);
  put(page, digits ? `${indent}${sign}\\.` : `${indent}\\${sign}`);
  return digits ? whole.length + 1 : whole.length;
}

function putSign(page: Page, text: string, at: number, place: LiteralPlace): number {
  const sign = text[at] ?? '';
  if (sign === 'h' || sign === 's') return putLiteralAddress(page, text, at, place);
  if (sign === '@') {
    put(page, page.text === '' ? `@${ZERO_WIDTH_SPACE}` : '@');
    return at + 1;
  }
  put(page, isMarkup(page, text, at, place) ? `\\${sign}` : sign);
  const pinged =
    sign === '<' && !page.live ? /^@[!&]?(?=\d+>)/.exec(text.slice(at + 1, at + 30)) : null;
  if (pinged === null) return at + 1;
  // Discord's servers ping whatever a backslash says.
  put(page, `@${ZERO_WIDTH_SPACE}`);
  return at + 2;
}

/** Mentions, commands, times: what Discord fills in between `<` and `>`. */
const MENTION =
  /<(?:[@#][!&]?\d{1,25}|\/[^<>\n:]{1,110}:\d{1,25}|t:-?\d{1,17}(?::\w)?|(?:id|sound):[\w:-]{1,60})>/y;
/** A name between colons becomes an emoji if Discord knows it; only Discord knows which it knows. */
const SHORTCODE = /:(?:[a-z0-9_+-]{0,40}[a-zñ][a-z0-9_+ñ-]{0,60}|[+-]1|100|1234):/y;

/** Whether Discord may read the sign at this place as markup. */
function isMarkup(page: Page, text: string, at: number, { marks, glued }: LiteralPlace): boolean {
  const sign = text[at] ?? '';
  const before = text[at - 1] ?? '';
  const after = text[at + 1] ?? (glued || marks.length > 0 ? '*' : '');
  switch (sign) {
    case '\\':
      return after !== '' && /[^0-9A-Za-z\s]/.test(after);
    case '*':
      return after.trim() !== '' || marks.includes('italic') || touchesSign(page, sign);
    case '~':
    case '|':
      return before === sign || after === sign;
    case '<':
      return after.trim() !== '' && !(page.live && matchesAt(MENTION, text, at));
    case ':':
      return matchesAt(SHORTCODE, text, at);
    case '_':
    case '[':
      return page.escaped.has(sign) || touchesSign(page, sign);
    default:
      return true;
  }
}

function matchesAt(pattern: RegExp, text: string, at: number): boolean {
  pattern.lastIndex = at;
  return pattern.test(text);
}

/** An address in the text: Discord links it as it stands and knows no backslashes in it. */
function putLiteralAddress(page: Page, text: string, at: number, place: LiteralPlace): number {
  const end = addressEnd(text, at);
  if (end === at) {
    // Too short for an address, unless a backslash or the sign of a mark comes behind it.
    if (mayGrow(text, at, place)) return putColon(page, text, at);
    put(page, text.charAt(at), text.slice(at));
    return at + 1;
  }
  const url = text.slice(at, end);
  // The address would take in what follows, and the backslash before a `<` or `:`.
  const [word = ''] = text.slice(end).split(/\s/, 1);
  const isGlued = /[:<]/.test(word) || (place.glued && end + word.length === text.length);
  const isUnfit =
    place.marks.some((mark) => conflicts(url, mark)) || (isGlued && url.includes('>'));
  if (isUnfit || (!page.live && /@(?:everyone|here)/.test(url))) return putColon(page, text, at);
  putRaw(page, isGlued ? `<${url}>` : url);
  return end;
}

function mayGrow(text: string, at: number, { glued }: LiteralPlace): boolean {
  const [begun = ''] = /^\w+:\/\/[^\s<]*/.exec(text.slice(at, at + 32)) ?? [];
  const end = at + begun.length;
  return (text[end] === '<' && !begun.endsWith('//')) || (glued && end === text.length);
}

/** Writes the scheme so that what follows is no address. */
function putColon(page: Page, text: string, at: number): number {
  const colon = text.indexOf(':', at);
  put(page, `${text.slice(at, colon)}\\:`);
  return colon + 1;
}
