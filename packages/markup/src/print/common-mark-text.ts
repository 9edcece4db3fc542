import type { RunMark, TextRun } from '../document.ts';
import { findLink } from '../transform/runs.ts';
import { percentEncode } from './addresses.ts';
import { type Delimiter, writeDelimiters } from './flanking.ts';
import { ZERO_WIDTH_SPACE } from './invisible.ts';
import { walkRuns } from './lines.ts';
import { isCodeRun, moveSpaceOutside } from './outer-space.ts';

/** Differences in inline content between platforms that take Markdown. */
export interface InlineSyntax {
  /** Escapes literal text within a line; `before` is the character before it, if any. */
  readonly escape: (text: string, before: string) => string;
  /** Escapes the characters that would begin a block at the start of a line. */
  readonly escapeStart: (line: string) => string;
  /** Whether URLs are written as `<https://…>`. */
  readonly autolinks: boolean;
}

/** Headings and cells have one line, and a bar ends a cell. */
export type InlinePlace = 'block' | 'heading' | 'cell';

/**
 * Writes inline content as Markdown. Lines are separated by `\n`, and end with the two spaces of a
 * hard line break.
 */
export function writeInlines(
  runs: readonly TextRun[],
  syntax: InlineSyntax,
  place: InlinePlace = 'block',
): string {
  const shown = moveSpaceOutside(runs);
  const bare = syntax.autolinks ? findBareLinks(shown) : new Set<RunMark>();
  const writer = new InlineWriter(syntax, place);
  walkRuns(shown, {
    open: (mark) => {
      if (!bare.has(mark)) writer.open(mark);
    },
    close: (mark) => {
      if (!bare.has(mark)) writer.close(mark);
    },
    text: (text, index) => {
      const run = shown[index];
      const link = findLink(run);
      if (run !== undefined && isCodeRun(run)) writer.code(text);
      else if (link !== undefined && bare.has(link)) writer.markup(`<${text}>`);
      else writer.text(text);
    },
  });
  return writer.end();
}

/** Links that can be written as a URL or an address in angle brackets. */
function findBareLinks(runs: readonly TextRun[]): ReadonlySet<RunMark> {
  const texts = new Map<RunMark & { type: 'link' }, string[]>();
  for (const run of runs) {
    const link = findLink(run);
    if (link === undefined) continue;
    const own = texts.get(link) ?? [];
    own.push(run.text);
    texts.set(link, own);
  }
  const bare = [...texts].filter(([{ url }, [text = '', ...others]]) => {
    if (others.length > 0) return false;
    return text === url ? AUTOLINK.test(url) : url === `mailto:${text}` && MAIL.test(text);
  });
  return new Set(bare.map(([link]) => link));
}

/** The link must not contain characters that would end it or be parsed as a character reference. */
const AUTOLINK = /^https?:(?!.*&#?\w+;)[^\s<>\\\p{Cc}\p{Cf}]+$/iu;
const MAIL = /^[\w.+-]+@[\w-]+(?:\.[\w-]+)+$/;

const DELIMITERS = { bold: '**', italic: '*', strike: '~~' } as const;

class InlineWriter {
  readonly #syntax: InlineSyntax;
  readonly #place: InlinePlace;
  #out = '';
  /** Whether only the space before a line's text has been written. */
  #startsLine = true;
  #closing: Delimiter[] = [];
  #opening: Delimiter[] = [];

  constructor(syntax: InlineSyntax, place: InlinePlace) {
    this.#syntax = syntax;
    this.#place = place;
  }

  open(mark: RunMark): void {
    if (mark.type === 'link') this.#openLink();
    else if (isDelimited(mark.type)) this.#opening.push(DELIMITERS[mark.type]);
  }

  close(mark: RunMark): void {
    if (mark.type === 'link') this.markup(`](${formatLinkTarget(mark.url)})`);
    else if (isDelimited(mark.type)) this.#closing.push(DELIMITERS[mark.type]);
  }

  /** Writes markup that has neither whitespace nor a mark at its ends. */
  markup(text: string): void {
    this.#settle(text[0] ?? '');
    this.#out += text;
    this.#startsLine = false;
  }

  code(text: string): void {
    const shown = text.replaceAll('\n', ' ');
    // In a table, a bar ends even code, and a backslash before it would be visible.
    if (this.#place === 'cell' && /\\\|/.test(shown)) this.text(shown);
    else this.markup(formatCodeSpan(this.#place === 'cell' ? shown.replaceAll('|', '\\|') : shown));
  }

  text(text: string): void {
    for (const [index, line] of text.split('\n').entries()) {
      if (index > 0) this.#breakLine();
      this.#literal(line);
    }
  }

  end(): string {
    this.#settle('');
    return trimSpaceEnd(this.#out);
  }

  #openLink(): void {
    this.markup('[');
    // An exclamation mark before a link would make it a picture.
    if (this.#out.endsWith('![')) this.#out = `${this.#out.slice(0, -2)}\\![`;
  }

  #literal(line: string): void {
    const startsLine = this.#startsLine;
    const literal = startsLine ? line.replace(/^[ \t\ufeff]+/, '') : line;
    if (literal === '') return;
    const text = this.#syntax.escape(literal, startsLine ? '' : this.#last());
    this.#settle(text[0] ?? '');
    this.#out += startsLine ? this.#syntax.escapeStart(text) : text;
    this.#startsLine = false;
  }

  #breakLine(): void {
    this.#settle('');
    this.#out = trimSpaceEnd(this.#out);
    if (this.#place === 'heading') this.#out += ' ';
    else if (this.#place === 'cell') this.#out += '<br>';
    // An empty line would end the paragraph.
    else this.#out += this.#startsLine ? `${ZERO_WIDTH_SPACE}  \n` : '  \n';
    this.#startsLine = true;
  }

  #last(): string {
    return [...this.#out.slice(-2)].at(-1) ?? '';
  }

  /** Writes the marks that end and begin before the next character. */
  #settle(next: string): void {
    if (this.#closing.length === 0 && this.#opening.length === 0) return;
    const before = this.#startsLine ? '' : this.#last();
    this.#out += writeDelimiters({ closing: this.#closing, opening: this.#opening }, before, next);
    this.#closing = [];
    this.#opening = [];
  }
}

function trimSpaceEnd(text: string): string {
  let end = text.length;
  while (text[end - 1] === ' ' || text[end - 1] === '\t') end -= 1;
  return text.slice(0, end);
}

function isDelimited(type: RunMark['type']): type is keyof typeof DELIMITERS {
  return type in DELIMITERS;
}

/** Writes a code span whose number of backticks differs from every run in the code. */
function formatCodeSpan(text: string): string {
  const inside = new Set((text.match(/`+/g) ?? []).map(({ length }) => length));
  let ticks = 1;
  while (inside.has(ticks)) ticks += 1;
  const isPadded = /^`|`$/.test(text) || (/^ .* $/.test(text) && text.trim() !== '');
  const fence = '`'.repeat(ticks);
  return isPadded ? `${fence} ${text} ${fence}` : fence + text + fence;
}

/** A URL as the target of a link; a bar would end the cell of a table. */
function formatLinkTarget(url: string): string {
  return percentEncode(url, /[\s<>()|\p{Cc}\p{Cf}]/gu)
    .replaceAll('\\', '\\\\')
    .replaceAll(/&(?=#?\w+;)/g, '&amp;');
}
