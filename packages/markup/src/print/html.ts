import type {
  Leaf,
  LeafContainer,
  RunMark,
  TableCell,
  TableLeaf,
  TextLeaf,
  TextRun,
} from '../document.ts';
import {
  findCommonPrefix,
  formatFixedWidth,
  getLinePrefix,
  isFixedWidth,
  type PrintedPart,
  RULE,
  walkRuns,
} from './lines.ts';

const TAGS = {
  bold: ['<strong>', '</strong>'],
  italic: ['<em>', '</em>'],
  underline: ['<u>', '</u>'],
  strike: ['<del>', '</del>'],
  spoiler: ['<span class="spoiler">', '</span>'],
  code: ['<code>', '</code>'],
  // The formula keeps its delimiters, so that a page without the formula library shows the source.
  math: ['<span class="math">', '</span>'],
} as const;

/**
 * Prints HTML for a page under a strict content security policy: all text escaped, no styles, no
 * scripts, no remote pictures, and only URLs that the transform has allowed.
 */
export function printHtml(leaves: readonly Leaf[]): PrintedPart {
  let text = '';
  let open: readonly LeafContainer[] = [];
  for (const leaf of leaves) {
    const common = findCommonPrefix(open, leaf.within).length;
    text += closeAllContainers(open.slice(common));
    text += leaf.within
      .slice(common)
      .map((container, at) => openContainer(container, common + at >= leaf.fresh))
      .join('');
    text += printHtmlLeaf(leaf);
    open = leaf.within;
  }
  text += closeAllContainers(open);
  return { text, counted: text, entities: 0 };
}

function openContainer(container: LeafContainer, begins: boolean): string {
  if (container.type === 'quote') return '<blockquote>';
  if (container.type === 'list') {
    if (container.start === undefined) return '<ul>';
    return '<ol>';
  }
  const { number, done, label } = container.marker;
  const value = number === undefined ? '' : ` value="${number}"`;
  const item = begins ? `<li${value}>` : '<li class="continued">';
  if (!begins) return item;
  // A footnote is identified by its name and has no bullet.
  if (label !== undefined) return `<li class="continued">[${escapeHtml(label)}] `;
  if (done === undefined) return item;
  return `${item}<input type="checkbox" disabled${done ? ' checked' : ''}> `;
}

function closeAllContainers(containers: readonly LeafContainer[]): string {
  return containers.toReversed().map(closeContainer).join('');
}

function closeContainer(container: LeafContainer): string {
  if (container.type === 'quote') return '</blockquote>';
  if (container.type === 'item') return '</li>';
  return container.start === undefined ? '</ul>' : '</ol>';
}

function printHtmlLeaf(leaf: Leaf): string {
  switch (leaf.kind) {
    case 'text':
      if (leaf.heading !== undefined)
        return wrapInTag(`h${leaf.heading}`, printHtmlRuns(leaf.runs));
      return isItemTextLeaf(leaf)
        ? printHtmlRuns(leaf.runs)
        : wrapInTag('p', printHtmlRuns(leaf.runs));
    case 'code': {
      const language = getLanguageClass(leaf.language);
      const attribute = language === undefined ? '' : ` class="${language}"`;
      return `<pre><code${attribute}>${escapeHtml(leaf.text)}</code></pre>`;
    }
    case 'grid':
      return `<pre>${escapeHtml([...leaf.header, ...leaf.rows].join('\n'))}</pre>`;
    case 'table':
      return printTable(leaf);
    case 'rule':
      return '<hr>';
  }
}

/** The first text of a list item is the item itself instead of a paragraph in it. */
function isItemTextLeaf(leaf: Leaf): boolean {
  return leaf.within.at(-1)?.type === 'item' && leaf.fresh < leaf.within.length;
}

function printTable({ header, rows, align }: TableLeaf): string {
  const row = (tag: 'th' | 'td', cells: readonly TableCell[]) =>
    wrapInTag(
      'tr',
      cells
        .map((cell, column) => {
          const side = align[column];
          return `<${tag}${side === undefined ? '' : ` class="${side}"`}>${printHtmlRuns(cell)}</${tag}>`;
        })
        .join(''),
    );
  const body = rows.map((cells) => row('td', cells)).join('');
  return wrapInTag('table', wrapInTag('thead', row('th', header)) + wrapInTag('tbody', body));
}

function wrapInTag(tag: string, content: string): string {
  return `<${tag}>${content}</${tag}>`;
}

function printHtmlRuns(runs: readonly TextRun[]): string {
  let text = '';
  walkRuns(runs, {
    open: (mark) => {
      text += openMark(mark);
    },
    close: (mark) => {
      text += mark.type === 'link' ? '</a>' : TAGS[mark.type][1];
    },
    text: (value) => {
      text += escapeHtml(value).replaceAll('\n', '<br>');
    },
  });
  return text;
}

function openMark(mark: RunMark): string {
  if (mark.type !== 'link') return TAGS[mark.type][0];
  return `<a href="${escapeHtml(mark.url)}" rel="noopener noreferrer nofollow">`;
}

const ENTITY: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

/** Escapes text for HTML content and double-quoted attributes, on the web and in Telegram. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => ENTITY[character] ?? character);
}

/** The language of a code block as a class name, or undefined if it is not a plain word. */
export function getLanguageClass(language: string | undefined): string | undefined {
  if (language === undefined || !/^[\w+#.-]{1,40}$/.test(language)) return undefined;
  return `language-${language}`;
}

const TELEGRAM_TAGS = {
  bold: 'b',
  italic: 'i',
  underline: 'u',
  strike: 's',
  spoiler: 'tg-spoiler',
  code: 'code',
  // Used only in rich messages.
  math: 'tg-math',
} as const;

/**
 * Collects markup together with the visible text, because Telegram counts only the visible text.
 */
interface TelegramWriter {
  text: string;
  counted: string;
  entities: number;
}

/**
 * Prints Telegram's HTML. Rules observed here: Telegram has one quote level, no markup inside
 * `code` and `pre`, and only the four named references.
 */
export function printTelegram(leaves: readonly Leaf[]): PrintedPart {
  const writer: TelegramWriter = { text: '', counted: '', entities: 0 };
  let open: LeafContainer | undefined;
  for (const [index, leaf] of leaves.entries()) {
    const quote = findOutermostQuote(leaf);
    const leaving = open !== undefined && open !== quote?.container;
    if (leaving) writer.text += '</blockquote>';
    if (index > 0) writeEscaped(writer, '\n'.repeat(leaf.gap));
    if (quote !== undefined && (leaving || open === undefined))
      enterQuote(writer, leaf, quote.index);
    open = quote?.container;
    printTelegramLeaf(writer, leaf, quote === undefined ? 0 : quote.index + 1);
  }
  if (open !== undefined) writer.text += '</blockquote>';
  return writer;
}

/**
 * The outermost quote around a leaf, which is printed as the block. Inner quotes are line prefixes.
 */
function findOutermostQuote(leaf: Leaf): { container: LeafContainer; index: number } | undefined {
  const index = leaf.within.findIndex(({ type }) => type === 'quote');
  const container = leaf.within[index];
  return container === undefined ? undefined : { container, index };
}

function enterQuote(writer: TelegramWriter, leaf: Leaf, index: number): void {
  const { first, hasMarker } = getLinePrefix({ ...leaf, within: leaf.within.slice(0, index) });
  // A quote starts on a new line, so the bullet of its list item gets a separate one.
  if (hasMarker) writeEscaped(writer, `${first.trimEnd()}\n`);
  writer.text += '<blockquote>';
  writer.entities += 1;
}

function printTelegramLeaf(writer: TelegramWriter, leaf: Leaf, from: number): void {
  const { first, hasMarker } = getLinePrefix(leaf, from);
  if (leaf.kind === 'rule') writeEscaped(writer, first + RULE);
  if (leaf.kind === 'text') printTelegramText(writer, leaf, from);
  if (!isFixedWidth(leaf)) return;
  // `pre` starts on a new line, so the bullet of its list item gets a separate one.
  if (hasMarker) writeEscaped(writer, `${first.trimEnd()}\n`);
  const language = leaf.kind === 'code' ? getLanguageClass(leaf.language) : undefined;
  printPreformatted(writer, formatFixedWidth(leaf), language);
}

function printPreformatted(writer: TelegramWriter, content: string, language?: string): void {
  writer.entities += 1;
  writer.text += language === undefined ? '<pre>' : `<pre><code class="${language}">`;
  writeEscaped(writer, content);
  writer.text += language === undefined ? '</pre>' : '</code></pre>';
}

function printTelegramText(writer: TelegramWriter, leaf: TextLeaf, from: number): void {
  const { first, rest } = getLinePrefix(leaf, from);
  writeEscaped(writer, leaf.runs.length === 0 ? first.trimEnd() : first);
  walkRuns(leaf.runs, {
    open: (mark) => {
      writer.entities += 1;
      writer.text += openTag(mark);
    },
    close: (mark) => {
      writer.text += closeTag(mark);
    },
    text: (text) => writeEscaped(writer, rest === '' ? text : text.replaceAll('\n', `\n${rest}`)),
  });
}

/** The opening tag of a format in Telegram's HTML. */
export function openTag(mark: RunMark): string {
  return mark.type === 'link'
    ? `<a href="${escapeHtml(mark.url)}">`
    : `<${TELEGRAM_TAGS[mark.type]}>`;
}

/** The closing tag of a format in Telegram's HTML. */
export function closeTag({ type }: RunMark): string {
  return type === 'link' ? '</a>' : `</${TELEGRAM_TAGS[type]}>`;
}

function writeEscaped(writer: TelegramWriter, text: string): void {
  writer.text += escapeHtml(text);
  writer.counted += text;
}
