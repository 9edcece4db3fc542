import { mayClose, mayOpen } from '../parse/inline-syntax.ts';

/** A format or bracket that has begun. */
interface Open {
  readonly mark: string;
  readonly closing: string;
  /** How long the run was that it began with, and whether that could have closed a format too. */
  readonly run: number;
  readonly isBoth: boolean;
  /** Its place among the pieces of the output. */
  readonly index: number;
}

/** Tags that mean something to us, and what ends them. */
const TAGS: readonly (readonly [tag: string, closing: string])[] = [
  ['<u>', '</u>'],
  ['<ins>', '</ins>'],
];
/** The beginning of a tag that would mean something. */
const HALF_TAG = /^<(?:\/?(?:u|i|in|ins)?|br?\s*\/?)$/i;
const AUTOLINK = /^<[a-z][a-z\d+.-]{1,31}:[^\s<>]*>/i;
const HALF_AUTOLINK = /^<[a-z][a-z\d+.-]{1,31}:[^\s<>]*$/i;
/** The beginning of a character reference; longer names are rare. */
const HALF_REFERENCE = /^&(?:#\d{0,7}|#x[\da-f]{0,6}|[a-z][a-z\d]{0,7})?$/i;
/** The beginning of a footnote's name, or all of it. */
const HALF_NOTE = /^\[\^[^\s\]]*\]?$/;
/** A formula, or a name such as `$PATH`, that is still being written. */
const HALF_MATHS = /^\$[^\s\d$][^\s$]*$/;
/** Everything up to the next character that may mean something. */
const PLAIN = /[^\\`*_~|[\]$<&]+/y;

/**
 * Completes the text of a paragraph that is still being written: closes formats and leaves half-written
 * signs and links out. Reads once from left to right; where Markdown's own rules are subtler, the worst
 * outcome is a visible asterisk until the next update.
 */
export function closeMarks(paragraph: string): string {
  return new MarkCloser(paragraph.trimEnd()).close();
}

class MarkCloser {
  readonly #text: string;
  #at = 0;
  readonly #pieces: string[] = [];
  readonly #open: Open[] = [];
  /** Runs of dollars that no later dollars can end. */
  readonly #endless = new Set<string>();

  constructor(text: string) {
    this.#text = text;
  }

  close(): string {
    while (this.#at < this.#text.length) this.#take(this.#read());
    for (const { mark, closing, index } of this.#open.toReversed()) {
      const last = this.#pieces.findLastIndex((piece) => !isSpace(piece));
      if (mark === '[' || last <= index) this.#pieces[index] = '';
      else {
        const end = (this.#pieces[last] ?? '').trimEnd() + closing;
        this.#pieces.splice(last, Number.POSITIVE_INFINITY, end);
      }
    }
    return this.#pieces.join('').trimEnd();
  }

  /** Reads what stands here; returns the length of what is to be kept as it is. */
  #read(): number {
    switch (this.#text[this.#at]) {
      case '\\':
        return this.#readEscape();
      case '`':
        return this.#readCode();
      case '*':
      case '_':
      case '~':
      case '|':
        return this.#readMark();
      case '[':
        return this.#readBracket();
      case ']':
        return this.#readLinkEnd();
      case '$':
        return this.#readMaths();
      case '<':
        return this.#readTag();
      case '&':
        return HALF_REFERENCE.test(this.#rest()) ? this.#drop() : 1;
      default:
        PLAIN.lastIndex = this.#at;
        return PLAIN.exec(this.#text)?.[0].length ?? 1;
    }
  }

  #readEscape(): number {
    const rest = this.#rest();
    if (rest === '\\' || rest === '\\(') return this.#drop();
    if (!rest.startsWith('\\(') || rest.includes('`')) return 2;
    const end = rest.indexOf('\\)', 2);
    return end >= 0 ? end + 2 : this.#drop(`${rest}\\)`);
  }

  #readCode(): number {
    const run = runAt(this.#text, this.#at);
    let end = this.#text.indexOf(run, this.#at + run.length);
    while (end >= 0 && runAt(this.#text, end) !== run) {
      end = this.#text.indexOf(run, end + runAt(this.#text, end).length);
    }
    if (end >= 0) return end + run.length - this.#at;
    // Backticks at the end are the beginning of the closing ones.
    const code = this.#text.slice(this.#at + run.length).replace(/`+$/, '');
    return this.#drop(isSpace(code) ? '' : run + code + run);
  }

  #readMark(): number {
    const run = runAt(this.#text, this.#at);
    const after = this.#text[this.#at + run.length] ?? '';
    const { opens, closes } = markSides(run, this.#text[this.#at - 1] ?? '', after);
    const innermost = this.#open.findLast(({ mark }) => mark[0] === run[0])?.mark ?? '';
    if (after === '' && run.length < innermost.length) return this.#drop();
    const left = closes ? this.#closeWith(run, opens) : run;
    this.#take(run.length - left.length);
    // What stands at the very end may still become more.
    if (after === '' && left !== '') return this.#drop();
    if (!opens) return left.length;
    const marks = left.length > 2 ? [left.slice(0, 2), left.slice(2)] : [left];
    for (const mark of marks) {
      if (mark !== '') this.#begin({ mark, closing: mark, run: run.length, isBoth: closes });
    }
    return 0;
  }

  /** Closes the formats that the run can close; returns what is left of it. */
  #closeWith(run: string, isBoth: boolean): string {
    let left = run;
    while (left !== '') {
      const bracket = this.#open.findLastIndex(({ mark }) => mark === '[');
      const at = this.#open.findLastIndex(
        (open) => left.startsWith(open.mark) && mayMatch(open, run.length, isBoth),
      );
      if (at <= bracket) break;
      left = left.slice(this.#open[at]?.mark.length);
      this.#open.length = at;
    }
    return left;
  }

  #readBracket(): number {
    if (HALF_NOTE.test(this.#rest())) return this.#drop();
    const before = this.#pieces.at(-1) ?? '';
    const isImage = this.#text[this.#at - 1] === '!' && before.endsWith('!');
    if (isImage) this.#pieces[this.#pieces.length - 1] = before.slice(0, -1);
    if (isImage) this.#at -= 1;
    this.#begin({ mark: '[', closing: '', run: 1, isBoth: false }, isImage ? '![' : '[');
    return 0;
  }

  /** A link without its end is only its text: there is no address to go to yet. */
  #readLinkEnd(): number {
    const at = this.#open.findLastIndex(({ mark }) => mark === '[');
    if (at < 0) return 1;
    const length = lengthOfLinkEnd(this.#text, this.#at);
    if (length === undefined) return this.#drop();
    if (length === 1) this.#open.splice(at, 1);
    else this.#open.length = at;
    return length;
  }

  #readMaths(): number {
    const run = runAt(this.#text, this.#at);
    if (HALF_MATHS.test(this.#rest())) return this.#rest().length;
    if (this.#endless.has(run) || !opensMaths(this.#text, this.#at, run)) return run.length;
    const length = lengthOfMaths(this.#text, this.#at, run);
    if (length === undefined) this.#endless.add(run);
    return length ?? run.length;
  }

  #readTag(): number {
    const rest = this.#rest();
    const start = rest.slice(0, 6).toLowerCase();
    for (const [tag, closing] of TAGS) {
      if (start.startsWith(tag)) {
        this.#begin({ mark: tag, closing, run: 1, isBoth: false });
        return 0;
      }
      if (!start.startsWith(closing)) continue;
      const at = this.#open.findLastIndex((open) => open.closing === closing);
      if (at >= 0) this.#open.length = at;
      return closing.length;
    }
    if (HALF_TAG.test(rest)) return this.#drop();
    if (HALF_AUTOLINK.test(rest)) return this.#drop(rest.slice(1));
    return AUTOLINK.exec(rest)?.[0].length ?? 1;
  }

  #rest(): string {
    return this.#text.slice(this.#at);
  }

  #take(length: number): void {
    if (length > 0) this.#pieces.push(this.#text.slice(this.#at, this.#at + length));
    this.#at += length;
  }

  /** Writes something in place of all that follows. */
  #drop(instead = ''): 0 {
    this.#pieces.push(instead);
    this.#at = this.#text.length;
    return 0;
  }

  #begin(open: Omit<Open, 'index'>, written = open.mark): void {
    this.#open.push({ ...open, index: this.#pieces.push(written) - 1 });
    this.#at += written.length;
  }
}

/** CommonMark's rule of three: in `**2*3**` the last two asterisks belong to the first two. */
function mayMatch(open: Open, run: number, isBoth: boolean): boolean {
  const isOdd = open.isBoth || isBoth;
  return !isOdd || (open.run + run) % 3 !== 0 || (open.run % 3 === 0 && run % 3 === 0);
}

/** Whether a run of marks may begin or end a format, by what stands on its sides. */
interface MarkSides {
  readonly opens: boolean;
  readonly closes: boolean;
}

/**
 * The parser's rule for `*`, `_` and `~~`, and ours for `||`.
 * @param before the character before the run, empty at the beginning; `after` likewise.
 */
function markSides(run: string, before: string, after: string): MarkSides {
  const character = run[0] ?? '';
  if ((character === '~' || character === '|') && run.length !== 2) {
    return { opens: false, closes: false };
  }
  if (character === '|') {
    return {
      opens: !isWord(before) && !isSpace(after),
      closes: !isSpace(before) && !isWord(after),
    };
  }
  const opens = !isSpace(after) && (!isSign(after) || isSpace(before) || isSign(before));
  const closes = !isSpace(before) && (!isSign(before) || isSpace(after) || isSign(after));
  if (character === '~') return { opens, closes };
  if (character === '*') {
    // Between letters a format may begin, but hardly ever does: `2*3`.
    if (isLatin(before) && isLatin(after)) return { opens: false, closes };
    const sides = { before, after };
    return { opens: opens || mayOpen(sides), closes: closes || mayClose(sides, run.length) };
  }
  return {
    opens: opens && (!closes || isSign(before)),
    closes: closes && (!opens || isSign(after)),
  };
}

/** The same character as often as it stands there. */
function runAt(text: string, at: number): string {
  let end = at + 1;
  while (end < text.length && text[end] === text[at]) end += 1;
  return text.slice(at, end);
}

/** White space, or the beginning or end of the text. */
function isSpace(character: string): boolean {
  return character.trim() === '';
}

/** A letter or digit. */
function isWord(character: string): boolean {
  return /[\p{L}\p{N}]/u.test(character);
}

function isLatin(character: string): boolean {
  return /[\p{N}\p{Script=Latin}]/u.test(character);
}

function isSign(character: string): boolean {
  return /[\p{P}\p{S}]/u.test(character);
}

/**
 * Length of the end of a link from its `]` on: 1 if it is only a bracket.
 * @returns undefined if it is not decided or not complete yet.
 */
function lengthOfLinkEnd(text: string, at: number): number | undefined {
  const next = text[at + 1];
  if (next === '(') return lengthOfAddress(text, at);
  if (next !== '[') return next === undefined ? undefined : 1;
  const end = text.indexOf(']', at + 2);
  return end < 0 ? undefined : end + 1 - at;
}

const TITLE_ENDS: Readonly<Record<string, string>> = { '"': '"', "'": "'", '(': ')' };

function lengthOfAddress(text: string, start: number): number | undefined {
  let depth = 0;
  for (let at = start + 1; at < text.length; at += 1) {
    const character = text[at] ?? '';
    if (character === '\\') at += 1;
    else if (character === '(') depth += 1;
    else if (character === ')') {
      depth -= 1;
      if (depth === 0) return at + 1 - start;
    } else if (isSpace(character)) {
      while (isSpace(text[at + 1] ?? 'x')) at += 1;
      const next = text[at + 1];
      if (next === undefined) return undefined;
      if (next === ')') continue;
      // After a space only a title may follow; anything else is prose in brackets.
      const titleEnd = TITLE_ENDS[next];
      if (titleEnd === undefined) return 1;
      at = text.indexOf(titleEnd, at + 2);
      if (at < 0) return undefined;
    }
  }
  return undefined;
}

/** Whether this run of dollars may begin maths, by the parser's rule. */
function opensMaths(text: string, at: number, run: string): boolean {
  if (run.length > 2 || isWord(text[at - 1] ?? '')) return false;
  return run.length === 2 || !isSpace(text[at + 1] ?? '');
}

/**
 * Length of the maths that begins with this run of dollars.
 * @returns undefined if no later dollars end it.
 */
function lengthOfMaths(text: string, start: number, run: string): number | undefined {
  let end = text.indexOf('$', start + run.length);
  while (end >= 0) {
    const other = runAt(text, end);
    const touches = run.length === 2 || !isSpace(text[end - 1] ?? '');
    if (other === run && touches && !isWord(text[end + run.length] ?? '')) {
      return end + run.length - start;
    }
    end = text.indexOf('$', end + other.length);
  }
  return undefined;
}
