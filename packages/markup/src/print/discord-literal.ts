import { addressEnd } from './discord-address.ts';
import { conflicts, type DiscordMark } from './discord-mark.ts';
import { type Page, put, putRaw, touchesSign, ZERO_WIDTH_SPACE } from './discord-page.ts';

/** Where literal text stands. */
export interface LiteralPlace {
  /** The marks that are open. */
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
  const lastBreak = Math.max(text.lastIndexOf(' '), text.lastIndexOf('>'));
  let from = page.startsLine && !joins ? putBlockSign(page, text) : 0;
  SIGN.lastIndex = from;
  for (let found = SIGN.exec(text); found !== null; found = SIGN.exec(text)) {
    const at = found.index;
    emit(page, text.slice(from, at), () => text.slice(from) + behind);
    from = putSign(page, text, at, { ...place, isOpen: at > lastBreak });
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

interface SignPlace extends LiteralPlace {
  /** Whether neither a space nor `>` follows in the line. */
  readonly isOpen: boolean;
}

/** Writes the sign at this place; returns where the text goes on. */
function putSign(page: Page, text: string, at: number, place: SignPlace): number {
  const sign = text[at] ?? '';
  if (sign === 'h' || sign === 's') return putAddress(page, text, at, place);
  if (sign === '@') {
    put(page, page.text === '' ? `@${ZERO_WIDTH_SPACE}` : '@');
    return at + 1;
  }
  const inStars = sign === '*' && place.marks.includes('italic');
  // Up to the end of the line nothing says whether this `<` ends in an address further down.
  const isOpen = sign === '<' && place.isOpen;
  const isCertain = inStars || isOpen || ('*_`'.includes(sign) && touchesSign(page, sign));
  put(page, sign);
  page.signs.push(page.text.length - 1);
  if (isCertain) page.certain.add(page.text.length - 1);
  const pinged =
    sign === '<' && !page.live ? /^@[!&]?(?=\d+>)/.exec(text.slice(at + 1, at + 30)) : null;
  if (pinged === null) return at + 1;
  // Discord's servers ping whatever a backslash says.
  put(page, `@${ZERO_WIDTH_SPACE}`);
  return at + 2;
}

/** An address in the text: Discord links it as it stands and knows no backslashes in it. */
function putAddress(page: Page, text: string, at: number, place: LiteralPlace): number {
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
