import type { Container, Leaf, Mark, TextLeaf } from '../document.ts';
import { escapeHtml, languageClass } from './html.ts';
import { linePrefix, type Printed, walkRuns } from './lines.ts';
import { fixedText, isFixedWidth, RULE } from './plain.ts';

const TAG = {
  bold: 'b',
  italic: 'i',
  underline: 'u',
  strike: 's',
  spoiler: 'tg-spoiler',
  code: 'code',
} as const;

/** Collects markup and, beside it, what people see: Telegram counts only the latter. */
interface Writer {
  text: string;
  counted: string;
  entities: number;
}

/**
 * Prints Telegram's HTML. Rules kept here: one quote level, nothing inside `code` and `pre`, only
 * the four named references.
 */
export function printTelegram(leaves: readonly Leaf[]): Printed {
  const writer: Writer = { text: '', counted: '', entities: 0 };
  let open: Container | undefined;
  for (const [index, leaf] of leaves.entries()) {
    const quote = quoteAt(leaf);
    const leaving = open !== undefined && open !== quote?.container;
    if (leaving) writer.text += '</blockquote>';
    if (index > 0) show(writer, '\n'.repeat(leaf.gap));
    if (quote !== undefined && (leaving || open === undefined))
      enterQuote(writer, leaf, quote.index);
    open = quote?.container;
    printLeaf(writer, leaf, quote === undefined ? 0 : quote.index + 1);
  }
  if (open !== undefined) writer.text += '</blockquote>';
  return writer;
}

/** The outermost quote around a leaf: the block. Quotes inside it are prefixes of lines. */
function quoteAt(leaf: Leaf): { container: Container; index: number } | undefined {
  const index = leaf.within.findIndex(({ type }) => type === 'quote');
  const container = leaf.within[index];
  return container === undefined ? undefined : { container, index };
}

function enterQuote(writer: Writer, leaf: Leaf, index: number): void {
  const { first, hasMarker } = linePrefix({ ...leaf, within: leaf.within.slice(0, index) });
  // A quote starts on a line of its own, so the bullet of its list item gets one too.
  if (hasMarker) show(writer, `${first.trimEnd()}\n`);
  writer.text += '<blockquote>';
  writer.entities += 1;
}

function printLeaf(writer: Writer, leaf: Leaf, from: number): void {
  const { first, hasMarker } = linePrefix(leaf, from);
  if (leaf.kind === 'rule') show(writer, first + RULE);
  if (leaf.kind === 'text') printText(writer, leaf, from);
  if (!isFixedWidth(leaf)) return;
  // `pre` starts on a line of its own, so the bullet of its list item gets one too.
  if (hasMarker) show(writer, `${first.trimEnd()}\n`);
  const language = leaf.kind === 'code' ? languageClass(leaf.language) : undefined;
  printPre(writer, fixedText(leaf), language);
}

function printPre(writer: Writer, content: string, language?: string): void {
  writer.entities += 1;
  writer.text += language === undefined ? '<pre>' : `<pre><code class="${language}">`;
  show(writer, content);
  writer.text += language === undefined ? '</pre>' : '</code></pre>';
}

function printText(writer: Writer, leaf: TextLeaf, from: number): void {
  const { first, rest } = linePrefix(leaf, from);
  show(writer, leaf.runs.length === 0 ? first.trimEnd() : first);
  walkRuns(leaf.runs, {
    open: (mark) => {
      writer.entities += 1;
      writer.text += openTag(mark);
    },
    close: (mark) => {
      writer.text += mark.type === 'link' ? '</a>' : `</${TAG[mark.type]}>`;
    },
    text: (text) => show(writer, rest === '' ? text : text.replaceAll('\n', `\n${rest}`)),
  });
}

function openTag(mark: Mark): string {
  return mark.type === 'link' ? `<a href="${escapeHtml(mark.url)}">` : `<${TAG[mark.type]}>`;
}

function show(writer: Writer, text: string): void {
  writer.text += escapeHtml(text);
  writer.counted += text;
}
