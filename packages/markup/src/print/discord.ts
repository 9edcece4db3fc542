import {
  type Container,
  type Leaf,
  leafTexts,
  type Marker,
  type Run,
  type TextLeaf,
} from '../document.ts';
import { linkOf, withoutOuterBreaks } from '../transform/runs.ts';
import {
  newLine,
  newPage,
  type Page,
  putLiteral,
  putRaw,
  putRuns,
  writeMarkup,
} from './discord-text.ts';
import { ZERO_WIDTH_SPACE } from './invisible.ts';
import { commonStart, fixedText, markerText, type Printed, RULE } from './lines.ts';

/**
 * Prints Discord's Markdown: what its clients show as intended, with no more backslashes than
 * necessary. Every character sent counts.
 * @param mentions `live`: text that looks like a mention stays unchanged.
 */
export function printDiscord(leaves: readonly Leaf[], mentions?: 'live'): Printed {
  const page = newPage(leaves.flatMap(textsOfLeaf), mentions === 'live');
  const layout: Layout = { lists: [], items: new Map(), before: undefined };
  for (const leaf of leaves) printDiscordLeaf(page, leaf, startLeaf(page, layout, leaf));
  // Discord interprets this word as a command.
  const text = page.text.replace(/^@(?=silent\b)/, `@${ZERO_WIDTH_SPACE}`);
  return { text, counted: text, entities: page.nodes };
}

function textsOfLeaf(leaf: Leaf): string[] {
  const addresses = leaf.kind === 'text' ? leaf.runs.map((run) => linkOf(run)?.url ?? '') : [];
  return [...leafTexts(leaf), ...addresses];
}

function printDiscordLeaf(page: Page, leaf: Leaf, place: Place): void {
  if (leaf.kind === 'text') printText(page, leaf, place);
  else if (leaf.kind === 'rule') page.text += RULE;
  else printCode(page, fixedText(leaf), place, leaf.kind === 'code' ? leaf.language : undefined);
}

function printText(page: Page, leaf: TextLeaf, place: Place): void {
  // Space after a list item's marker would count as part of it.
  const runs = withoutOuterBreaks(leaf.runs, place.level > 0);
  const isBlank = runs.every(({ text }) => text.trim() === '');
  // Discord accepts no item without text, and no heading in an empty item or after text.
  if (isBlank && place.hasMarker) writeMarkup(page, ZERO_WIDTH_SPACE);
  else if (isBlank) return;
  else if (leaf.heading === undefined || leaf.heading > 3) putRuns(page, runs, place);
  else if (place.level > 0 || place.hasLabel) putRuns(page, boldRuns(runs), place);
  else printHeading(page, runs, '#'.repeat(leaf.heading), place);
}

function boldRuns(runs: readonly Run[]): Run[] {
  return runs.map(({ text, marks }) => ({
    text,
    marks: [{ type: 'bold' }, ...marks.filter(({ type }) => type !== 'bold')],
  }));
}

function printHeading(page: Page, runs: readonly Run[], sign: string, place: Place): void {
  for (const [index, own] of visibleLines(runs).entries()) {
    if (index > 0) newLine(page, place);
    page.text += `${sign} `;
    page.nodes += 1;
    const from = page.text.length;
    putRuns(page, own, place);
    // Discord removes `#` from both ends of a heading.
    const shown = page.text.slice(from).replace(/^#/, '\\#').replace(/#$/, `#${ZERO_WIDTH_SPACE}`);
    page.text = page.text.slice(0, from) + shown;
  }
}

/** The runs of each line that shows something. */
function visibleLines(runs: readonly Run[]): Run[][] {
  const lines: Run[][] = [[]];
  for (const { text, marks } of runs) {
    for (const [index, part] of text.split('\n').entries()) {
      if (index > 0) lines.push([]);
      if (part !== '') lines.at(-1)?.push({ text: part, marks });
    }
  }
  return lines.filter((line) => line.some(({ text }) => text.trim() !== ''));
}

/** A fence ends at the next three backticks, so the code must not contain any. */
function printCode(page: Page, text: string, { prefix, inItem }: Place, language?: string): void {
  // For code without visible content, Discord would show the language.
  const isName = language !== undefined && /^[\w+\-.#]{1,40}$/.test(language) && text.trim() !== '';
  // Without a space, an empty line would end the list.
  const empty = inItem ? `${prefix} ` : prefix;
  const body = text
    .replaceAll(/`{3,}/g, (ticks) => [...ticks].join(ZERO_WIDTH_SPACE))
    .split('\n')
    .map((line) => `\n${line.trim() === '' ? empty : prefix + line}`)
    .join('');
  page.joins = false;
  putRaw(page, `\`\`\`${isName ? language : ''}${body}\n${prefix}\`\`\``);
}

/** Discord parses no lists deeper than this; deeper items get a bullet that is text. */
const MAX_LEVEL = 11;

/** A list that Discord is still parsing. */
interface OpenList {
  readonly list: Container | undefined;
  /**
   * The width of its first marker: Discord removes as much from every subsequent line of every
   * item.
   */
  readonly width: number;
  next: number | undefined;
}

/** The layout of a message so far. */
interface Layout {
  /** Open lists, outermost first. */
  readonly lists: OpenList[];
  /** The indent of the subsequent lines of each item that begins in this message. */
  readonly items: Map<Container, number>;
  before: Leaf | undefined;
}

interface Place {
  /** The prefix of the subsequent lines of the content. */
  prefix: string;
  /** The number of enclosing list items, and whether the innermost container is one. */
  level: number;
  inItem: boolean;
  /** Whether an item begins with it. */
  hasMarker: boolean;
  /** Whether other text precedes the content. */
  hasLabel: boolean;
}

/** Writes what comes between the previous leaf and the content of this one. */
function startLeaf(page: Page, layout: Layout, leaf: Leaf): Place {
  page.text += gapBefore(layout, leaf);
  page.after = undefined;
  page.startsLine = true;
  page.joins = false;
  const quote = quoteOf(leaf);
  if (quote !== undefined && quote !== quoteOf(layout.before)) page.nodes += 1;
  layout.before = leaf;
  const place = { prefix: '', level: 0, inItem: false, hasMarker: false, hasLabel: false };
  let list: Container | undefined;
  for (const [index, container] of leaf.within.entries()) {
    if (container.type === 'list') list = container;
    else if (container.type === 'quote') startLine(page, place, '> ', '> ');
    else if (index >= leaf.fresh) startItem(page, layout, place, { list, item: container });
    else continueItem(page, place, layout.items.get(container));
  }
  layout.lists.length = place.level;
  return place;
}

/** The innermost quote that a leaf is in; the transform leaves no nested ones. */
function quoteOf(leaf: Leaf | undefined): Container | undefined {
  return leaf?.within.findLast(({ type }) => type === 'quote');
}

/** Starts a line for a quote or an item; after a marker it gets a separate line. */
function startLine(page: Page, place: Place, sign: string, prefix: string): void {
  const isMarked = place.hasMarker || place.hasLabel;
  page.text += isMarked ? `\n${place.prefix}${sign}` : sign;
  page.startsLine = true;
  page.joins = false;
  place.prefix += prefix;
  place.inItem = false;
}

function continueItem(page: Page, place: Place, width: number | undefined): void {
  if (width === undefined) return;
  page.text += ' '.repeat(width);
  page.joins = true;
  place.prefix += ' '.repeat(width);
  place.inItem = true;
  place.level += 1;
}

interface Item {
  readonly list: Container | undefined;
  readonly item: Container & { readonly type: 'item' };
}

function startItem(page: Page, { lists, items }: Layout, place: Place, { list, item }: Item): void {
  const { level } = place;
  const { number, done } = item.marker;
  if (!isNative(item.marker, level)) {
    putLabel(page, place, markerText(item.marker));
    return;
  }
  const text = number === undefined ? '- ' : `${number}. `;
  const isNew = !continuesList(lists[level], list, item.marker);
  const open = (isNew ? undefined : lists[level]) ?? { list, width: text.length, next: undefined };
  open.next = number === undefined ? undefined : number + 1;
  lists.splice(level, lists.length, open);
  items.set(item, open.width);
  if (isNew) page.nodes += 1;
  startLine(page, place, text, ' '.repeat(open.width));
  place.inItem = true;
  place.hasMarker = true;
  place.level += 1;
  if (done !== undefined) putLabel(page, place, markerText({ done }));
}

/** Text before the content that no Discord list can show: a box, a footnote's name. */
function putLabel(page: Page, place: Place, text: string): void {
  putLiteral(page, { text, marks: [], behind: '' });
  place.hasLabel = true;
}

function isNative({ label, number }: Marker, level: number): boolean {
  // Discord starts no list with 0.
  return level < MAX_LEVEL && label === undefined && number !== 0;
}

/** Whether Discord would show the next item of this list with exactly this number. */
function continuesList(
  open: OpenList | undefined,
  list: Container | undefined,
  { number }: Marker,
) {
  return open !== undefined && open.list === list && open.next === number;
}

/**
 * Line breaks, and the content of an empty line. Between top-level items an empty line ends the
 * list, and the next one continues with its number. In an item it would also end the list, so there
 * a line of spaces is the empty line, and there is none next to nested items. Lists and quotes that
 * would merge are separated.
 */
function gapBefore({ before, lists, items }: Layout, leaf: Leaf): string {
  if (before === undefined) return '';
  const shared = commonStart(before.within, leaf.within);
  const prefix = containerPrefix(shared, items);
  const level = shared.filter((container) => items.has(container)).length;
  const begins = firstItem(leaf);
  const open = lists[level];
  const runsIntoList =
    open !== undefined &&
    (begins === undefined
      ? startsWithSpace(leaf)
      : !continuesList(open, begins.list, begins.marker));
  const quotes = [quoteOf(before), quoteOf(leaf)];
  const runsIntoQuote =
    begins === undefined && !quotes.includes(undefined) && quotes[0] !== quotes[1];
  const apart = runsIntoList || runsIntoQuote;
  if (level === 0) {
    if (!apart && leaf.gap === 1) return '\n';
    lists.length = 0;
    return `\n${prefix}\n`;
  }
  if (apart) lists.length = level;
  if (apart) return `\n${prefix}${ZERO_WIDTH_SPACE}\n`;
  return leaf.gap === 2 && begins === undefined && open === undefined ? `\n${prefix} \n` : '\n';
}

function containerPrefix(containers: readonly Container[], items: Layout['items']): string {
  return containers
    .map((container) => (container.type === 'quote' ? '> ' : ' '.repeat(items.get(container) ?? 0)))
    .join('');
}

/** The outermost item that begins with a leaf. */
function firstItem(leaf: Leaf) {
  let list: Container | undefined;
  for (const [index, container] of leaf.within.entries()) {
    if (container.type === 'list') list = container;
    if (container.type === 'item' && index >= leaf.fresh) return { list, marker: container.marker };
  }
  return undefined;
}

function startsWithSpace(leaf: Leaf): boolean {
  return leaf.kind === 'text' && /^\s/.test(leaf.runs[0]?.text ?? '');
}
