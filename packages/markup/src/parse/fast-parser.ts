import type { List, ListItem, Paragraph, PhrasingContent, Root, RootContent } from 'mdast';

/*
 * Most chat answers are sentences, lists of single lines and code blocks, with a few bold words or
 * names in code. The full parser is slow on such answers; this parser reads them line by line, and
 * gives up at any sequence that might have another meaning.
 */

const FENCE = /^```([\w+#.-]*)$/;
const ENDS_FENCE = /^ {0,3}`{3,}[ \t]*$/;
const HEADING = /^(#{1,6}) (?=\S)/;
const ITEM = /^(?:[-*]|(\d{1,9})\.) (?=\S)/;
/** Characters that the parser replaces or counts in a special way. */
const ODD = /[\t\r\0\ufeff]/;
/** Matches the beginning of a line that is not plain text, at any position. */
const NO_TEXT = /^(?:[\s#+=>:|~<[\\-]|\d{1,9}[.)](?:\s|$)|\*(?:\s|$)|```)/;
/**
 * Characters without a special meaning: most, and some signs where no markup can begin with them.
 */
const TEXT = /(?:[^\\`*_~[\]<@]+|<(?= )|(?<=[A-Za-z0-9])_(?=[A-Za-z0-9]))+/y;
const CODE = /`([^`\s](?:[^`\n]*[^`\s])?)`(?!`)/y;
const STARS = /\*\*?(?!\*)/y;
/** Text in which GFM may find a URL. */
const ADDRESS = /:\/\/|www\./i;
/** Letters that may be on both sides of asterisks. Scripts without spaces have separate rules. */
const LETTER = 'A-Za-z0-9\\u00c0-\\u024f\\u0400-\\u04ff';
const OPENS = new RegExp(`^(?:\\s?[${LETTER}\`]|\\([${LETTER}])$`);
const CLOSES = new RegExp(`^(?:[${LETTER}][\\s.,:;!?)]?|[.,:;!?%)\`]\\s?)$`);

/** The tree of simple Markdown; undefined for any other text. Only blocks have positions. */
export function parseQuickTree(markdown: string): Root | undefined {
  return ODD.test(markdown) ? undefined : new QuickReader(markdown).root();
}

class QuickReader {
  readonly #lines: readonly string[];
  /** The next line, and its offset in the text. */
  #at = 0;
  #offset = 0;

  constructor(markdown: string) {
    this.#lines = markdown.split('\n');
  }

  root(): Root | undefined {
    const children: RootContent[] = [];
    for (let line = this.#nextFull(); line !== undefined; line = this.#nextFull()) {
      const block = this.#block(line);
      if (block === undefined) return undefined;
      children.push(block);
    }
    return { type: 'root', children };
  }

  #block(line: string): RootContent | undefined {
    if (FENCE.test(line)) return this.#code(line);
    if (HEADING.test(line)) return this.#heading(line);
    if (ITEM.test(line)) return this.#list(line);
    if (line === '---') return { type: 'thematicBreak', position: this.#take(line) };
    return this.#paragraph(line);
  }

  #code(opening: string): RootContent | undefined {
    let end = this.#at + 1;
    while (end < this.#lines.length && !ENDS_FENCE.test(this.#lines[end] ?? '')) end += 1;
    if (this.#lines[end] !== '```') return undefined;
    const lines = this.#lines.slice(this.#at + 1, end);
    const position = this.#take(opening);
    for (const line of lines) this.#take(line);
    position.end = this.#take('```').end;
    const lang = opening.slice(3) || null;
    return { type: 'code', lang, meta: null, value: lines.join('\n'), position };
  }

  #heading(line: string): RootContent | undefined {
    const marks = line.indexOf(' ');
    const children = /[\s#]$/.test(line) ? undefined : readInlines(line.slice(marks + 1));
    const depth = DEPTHS[marks];
    if (children === undefined || depth === undefined) return undefined;
    return { type: 'heading', depth, children, position: this.#take(line) };
  }

  #paragraph(first: string): Paragraph | undefined {
    const lines: string[] = [];
    const position = { start: this.#point(0), end: this.#point(0) };
    for (let line: string | undefined = first; line; line = this.#lines[this.#at]) {
      if (lines.length > 0 && endsParagraph(line)) break;
      if (!isPlainLine(line)) return undefined;
      lines.push(line);
      position.end = this.#take(line).end;
    }
    const children = readInlines(lines.join('\n'));
    return children && { type: 'paragraph', children, position };
  }

  #list(first: string): List | undefined {
    const [, number] = ITEM.exec(first) ?? [];
    const ordered = number !== undefined;
    const marker = ordered ? '.' : first[0];
    const children: ListItem[] = [];
    let spread = false;
    let line: string | undefined = first;
    while (line !== undefined && readMarker(line) === marker) {
      const item = this.#item(line);
      if (item === undefined) return undefined;
      children.push(item);
      const isApart = this.#lines[this.#at] === '';
      line = this.#nextFull();
      const goesOn = line !== undefined && readMarker(line) === marker;
      if (line !== undefined && !isApart && !goesOn) return undefined;
      spread ||= isApart && goesOn;
    }
    const [start, end] = [children[0]?.position?.start, children.at(-1)?.position?.end];
    if (start === undefined || end === undefined) return undefined;
    return {
      type: 'list',
      ordered,
      start: ordered ? Number(number) : null,
      spread,
      children,
      position: { start, end },
    };
  }

  #item(line: string): ListItem | undefined {
    const from = line.indexOf(' ') + 1;
    const text = line.slice(from);
    const children = isPlainLine(text) ? readInlines(text) : undefined;
    if (children === undefined) return undefined;
    const start = this.#point(from);
    const position = this.#take(line);
    const paragraph: Paragraph = {
      type: 'paragraph',
      children,
      position: { start, end: position.end },
    };
    return { type: 'listItem', spread: false, checked: null, children: [paragraph], position };
  }

  /** Advances to the next line that is not empty. */
  #nextFull(): string | undefined {
    while (this.#lines[this.#at] === '') this.#take('');
    return this.#lines[this.#at];
  }

  #take(line: string) {
    const position = { start: this.#point(0), end: this.#point(line.length) };
    this.#at += 1;
    this.#offset += line.length + 1;
    return position;
  }

  #point(inLine: number) {
    return { line: this.#at + 1, column: inLine + 1, offset: this.#offset + inLine };
  }
}

const DEPTHS = [undefined, 1, 2, 3, 4, 5, 6] as const;

function isPlainLine(line: string): boolean {
  return !NO_TEXT.test(line) && !/\s$/.test(line);
}

/**
 * Whether a line ends a paragraph. Directly below a paragraph, only the number 1 begins a numbered
 * list.
 */
function endsParagraph(line: string): boolean {
  if (FENCE.test(line) || HEADING.test(line)) return true;
  const item = ITEM.exec(line);
  return item !== null && (item[1] ?? '1') === '1';
}

function readMarker(line: string): string | undefined {
  const [item, number] = ITEM.exec(line) ?? [];
  return number === undefined ? item?.[0] : '.';
}

/** Text, code, and emphasis that contains only text. */
function readInlines(text: string): PhrasingContent[] | undefined {
  // Between two dollar signs there could be math.
  if (text.indexOf('$') !== text.lastIndexOf('$')) return undefined;
  const children: PhrasingContent[] = [];
  let inside: PhrasingContent[] | undefined;
  let stars = '';
  for (let at = 0; at < text.length; ) {
    const target: PhrasingContent[] = inside ?? children;
    const plain = matchAt(TEXT, text, at);
    if (plain !== undefined) {
      if (ADDRESS.test(plain)) return undefined;
      target.push({ type: 'text', value: plain });
      at += plain.length;
      continue;
    }
    const code = matchAt(CODE, text, at);
    if (code !== undefined) {
      target.push({ type: 'inlineCode', value: code.slice(1, -1) });
      at += code.length;
      continue;
    }
    const run = matchAt(STARS, text, at);
    if (run === undefined) return undefined;
    const sides = (text[at - 1] ?? '') + (text[at + run.length] ?? '');
    if (inside === undefined) {
      if (!OPENS.test(sides)) return undefined;
      inside = [];
      children.push({ type: run === '*' ? 'emphasis' : 'strong', children: inside });
    } else {
      if (run !== stars || !CLOSES.test(sides)) return undefined;
      inside = undefined;
    }
    stars = run;
    at += run.length;
  }
  return inside === undefined ? children : undefined;
}

function matchAt(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}
