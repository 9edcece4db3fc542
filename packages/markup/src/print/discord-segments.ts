import type { Mark, Run } from '../document.ts';
import { linkOf, showsAddress } from '../transform/runs.ts';
import { commonStart } from './lines.ts';

/**
 * Runs as segments that Discord reads as they are meant: white space stands outside of the marks
 * that begin or end there, and a mark goes round nothing that would end it too early.
 */
export function toSegments(runs: readonly Run[]): Segment[] {
  const segments: Segment[] = [];
  let at = 0;
  while (at < runs.length) {
    const link = linkOf(runs[at]);
    let end = at + 1;
    while (link !== undefined && linkOf(runs[end]) === link) end += 1;
    const inner = runs.slice(at, end).map(toPiece);
    segments.push(...(link === undefined ? inner : linkSegments(link.url, inner)));
    at = end;
  }
  return joinTexts(hoistSpace(segments.map(withoutConflicts)));
}

function toPiece({ text, marks }: Run): Piece {
  const own = marks
    .map(({ type }) => type)
    .filter((type): type is DiscordMark => type !== 'code' && type !== 'link');
  if (!marks.some(({ type }) => type === 'code')) return { kind: 'text', text, marks: own };
  return { kind: 'code', text: text.replaceAll('\n', ' '), marks: own };
}

function withoutConflicts(segment: Segment): Segment {
  if (segment.kind === 'text' || segment.kind === 'masked') return segment;
  const written = segment.kind === 'code' ? `\`${segment.text}\`` : segment.text;
  return { ...segment, marks: segment.marks.filter((mark) => !conflicts(written, mark)) };
}

function joinTexts(segments: readonly Segment[]): Segment[] {
  const joined: Segment[] = [];
  for (const segment of segments) {
    const last = joined.at(-1);
    const isSame =
      segment.kind === 'text' &&
      last?.kind === 'text' &&
      last.marks.length === segment.marks.length &&
      commonStart(last.marks, segment.marks).length === last.marks.length;
    if (isSame) joined[joined.length - 1] = { ...segment, text: last.text + segment.text };
    else joined.push(segment);
  }
  return joined;
}

/** Text or code with its marks, outermost first. */
export interface Piece {
  readonly kind: 'text' | 'code';
  readonly text: string;
  readonly marks: readonly DiscordMark[];
}

/** Inline content in the order in which it is written. */
export type Segment =
  | Piece
  /** An address that shows itself. */
  | { readonly kind: 'address'; readonly text: string; readonly marks: readonly DiscordMark[] }
  /** Text with an address behind it; it consists of text and code. */
  | {
      readonly kind: 'masked';
      readonly url: string;
      readonly inner: readonly Piece[];
      readonly marks: readonly DiscordMark[];
    };

/** A format that Discord writes with a sign on either side. */
export type DiscordMark = Exclude<Mark['type'], 'code' | 'link'>;

/** How Discord writes each format. Italic never with underscores: those hold at word edges only. */
export const SIGN_OF: Readonly<Record<DiscordMark, string>> = {
  bold: '**',
  italic: '*',
  underline: '__',
  strike: '~~',
  spoiler: '||',
};

/**
 * Whether this text, which no backslash can change, would end the mark it stands in.
 * @param text with the signs round it: the backticks of code.
 */
export function conflicts(text: string, mark: DiscordMark): boolean {
  const sign = SIGN_OF[mark];
  if (text.includes(sign)) return true;
  // Its end must touch neither the same sign nor, where those count, a backslash.
  const knowsBackslash = mark !== 'strike' && mark !== 'spoiler';
  return (knowsBackslash && text.endsWith('\\')) || text.endsWith(sign.charAt(0));
}

/** White space at the edge of a text keeps only the marks that go on behind it. */
function hoistSpace<Kind extends Segment>(segments: readonly Kind[]): Kind[] {
  const pieces = segments.flatMap(cutSpace);
  // From the end, what goes on behind; from the start, what came before.
  const behind: (readonly DiscordMark[])[] = [];
  let marks: readonly DiscordMark[] = [];
  for (const piece of pieces.toReversed()) {
    marks = isSpace(piece) ? commonStart(piece.marks, marks) : piece.marks;
    behind.push(marks);
  }
  marks = [];
  return pieces.map((piece) => {
    const after = behind.pop() ?? [];
    marks = isSpace(piece) ? commonStart(after, marks) : piece.marks;
    return isSpace(piece) ? { ...piece, marks } : piece;
  });
}

function cutSpace<Kind extends Segment>(segment: Kind): Kind[] {
  if (segment.kind !== 'text') return [segment];
  const core = segment.text.trim();
  if (core === segment.text || core === '') return [segment];
  const from = segment.text.indexOf(core);
  const texts = [segment.text.slice(0, from), core, segment.text.slice(from + core.length)];
  return texts.filter((text) => text !== '').map((text) => ({ ...segment, text }));
}

function isSpace(segment: Segment): boolean {
  return segment.kind === 'text' && segment.text.trim() === '';
}

/** Discord makes no link of a text that contains an address, also not of its own invites. */
const ADDRESS_IN_TEXT = /(?:https?|steam):\/\/|discord(?:app)?\.(?:com|gg|gift|new|me|store)\//i;
const SEEN = /[\p{L}\p{N}]/u;

/**
 * A link as Discord shows it: the address itself, or a text with the address behind it, or, where
 * the text or the address does not allow that, both beside each other.
 */
function linkSegments(url: string, pieces: readonly Piece[]): Segment[] {
  const text = pieces.map((piece) => piece.text).join('');
  const marks = pieces.map((piece) => piece.marks).reduce(commonStart);
  if (text === url) return [{ kind: isReadable(url) ? 'address' : 'text', text, marks }];
  const target = maskable(url);
  if (!isReadable(target) || !isFit(pieces, marks)) return writtenOut(url, pieces);
  const inner = innerPieces(pieces, marks);
  const first = inner.findIndex(isSeen);
  const end = inner.findLastIndex(isSeen) + 1;
  return [
    ...inner.slice(0, first),
    { kind: 'masked', url: target, inner: inner.slice(first, end), marks },
    ...inner.slice(end),
  ];
}

function writtenOut(url: string, pieces: readonly Piece[]): Segment[] {
  if (showsAddress(pieces.map(({ text }) => text).join(''), url)) return [...pieces];
  const kind = isReadable(url) ? 'address' : 'text';
  return [
    ...pieces,
    { kind: 'text', text: ' (', marks: [] },
    { kind, text: url, marks: [] },
    { kind: 'text', text: ')', marks: [] },
  ];
}

function isSeen({ text }: Piece): boolean {
  return text.trim() !== '';
}

/** Content with the marks that are safe in a link's text, where nothing can keep signs apart. */
function innerPieces(pieces: readonly Piece[], outer: readonly DiscordMark[]): Piece[] {
  const own = hoistSpace(
    pieces.map((piece) => ({
      ...piece,
      text: piece.text.replaceAll(/\s/g, ' '),
      marks: piece.marks.slice(outer.length),
    })),
  );
  const hasSpoiler = own.some(({ marks }) => marks.includes('spoiler'));
  const signs = hasSpoiler ? /[*_~|]/ : /[*_~]/;
  const hasSigns = pieces.some(({ text }) => signs.test(text));
  const touches = own.some(({ marks }, index) => {
    const before = own[index - 1]?.marks ?? [];
    const common = commonStart(before, marks).length;
    return common < before.length && common < marks.length;
  });
  return hasSigns || touches ? own.map((piece) => ({ ...piece, marks: [] })) : own;
}

/**
 * What cannot stand in the text of a link: there Discord knows no backslashes, takes out zero-width
 * characters, and makes no link at all of a text with emoji, names of emoji or mentions in it.
 */
const UNFIT =
  /[\[\]`\\]|<(?=[@#:\/]|[^\s>]*[:@])|~~+|\|\|+|:[\w+\-]+:|@(?=everyone|here)|\p{RGI_Emoji}|[\p{Emoji_Presentation}\p{Cf}\u034f\u17b4\u17b5\u1160\u3164\uffa0\ufe0e\ufe0f]/v;
/** Discord looks for links, mentions and names of emoji even in the code in a link. */
const PLAIN_CODE = /^[^`*~|<>@#[\]\\:]+$/;

/** Whether the content of a link can be its text. */
function isFit(pieces: readonly Piece[], outer: readonly DiscordMark[]): boolean {
  const text = pieces.map((piece) => piece.text).join('');
  const marks = [...outer, ...pieces.flatMap((piece) => piece.marks)];
  const hasStars = marks.includes('bold') || marks.includes('italic');
  const starsAreFit = hasStars ? !text.includes('*') : text.indexOf('*') === text.lastIndexOf('*');
  // An underscore in a word neither ends italic text nor lets any begin before it.
  const linesAreFit = !/_(?![0-9A-Za-z])/.test(text) || text.indexOf('_') === text.lastIndexOf('_');
  return (
    SEEN.test(text) &&
    starsAreFit &&
    linesAreFit &&
    !ADDRESS_IN_TEXT.test(text) &&
    pieces.every(({ kind, text: own }) =>
      kind === 'text' ? !UNFIT.test(own) : PLAIN_CODE.test(own),
    )
  );
}

const BARE_ADDRESS = /(?:https?|steam):\/\/[^\s<]+[^<.,:;"'\]\s]/y;

/** Where the address ends that Discord finds at this place of a text; `at` itself if it finds none. */
export function addressEnd(text: string, at: number): number {
  BARE_ADDRESS.lastIndex = at;
  const found = BARE_ADDRESS.exec(text)?.[0];
  if (found === undefined) return at;
  // A closing parenthesis at the end belongs to it only if an opening one does.
  let from = 0;
  for (let last = found.length - 1; found[last] === ')'; last -= 1) {
    const opening = found.indexOf('(', from);
    if (opening < 0) return at + found.length - 1;
    from = opening + 1;
  }
  return at + found.length;
}

/** Whether Discord shows a link for this address at all. */
function isReadable(url: string): boolean {
  if (/[\p{Cf}\p{Z}\p{Cc}<>]/u.test(url) || !URL.canParse(url)) return false;
  const [scheme = '', empty, host = ''] = url.split('/');
  return /^https?:$/.test(scheme) && empty === '' && host !== '' && !host.includes('%');
}

/** The address with everything encoded that would end it, or a mark round it, too early. */
function maskable(url: string): string {
  const encoded = url
    // Browsers read a backslash in an address as a slash.
    .replaceAll('\\', '/')
    .replaceAll(/[\p{Cf}\p{Z}\p{Cc}<>"'*`|]/gu, percent)
    .replaceAll('__', '_%5F')
    .replaceAll('~~', '~%7E')
    .replaceAll('](', '%5D(')
    // Discord's servers look for these in addresses too.
    .replaceAll(/@(?=everyone|here)/g, percent);
  return hasPairedParentheses(encoded) ? encoded : encoded.replaceAll(/[()]/g, percent);
}

function percent(character: string): string {
  const bytes = Buffer.from(character);
  return [...bytes].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');
}

/** Discord takes a pair as part of an address, but no pair in a pair. */
function hasPairedParentheses(url: string): boolean {
  let open = false;
  for (const character of url) {
    if (character === '(' && open) return false;
    if (character === ')' && !open) return false;
    if (character === '(' || character === ')') open = character === '(';
  }
  return !open;
}
