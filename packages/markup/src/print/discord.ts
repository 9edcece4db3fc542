import {
  type ItemMarker,
  type Leaf,
  type LeafContainer,
  listLeafTexts,
  type TextLeaf,
  type TextRun,
} from '../document.ts';
import { findLink, trimOuterBreaks } from '../transform/runs.ts';
import {
  createDiscordPage,
  type DiscordPage,
  startNewLine,
  writeLiteralText,
  writeMarkup,
  writeRaw,
  writeRuns,
} from './discord-text.ts';
import { ZERO_WIDTH_SPACE } from './invisible.ts';
import {
  findCommonPrefix,
  formatFixedWidth,
  formatMarker,
  type PrintedPart,
  RULE,
} from './lines.ts';

/**
 * Prints Discord's Markdown for its clients, with no more backslashes than necessary. Every
 * character sent counts towards the limit.
 * @param mentions `live`: text that looks like a mention stays unchanged.
 */
export function printDiscord(leaves: readonly Leaf[], mentions?: 'live'): PrintedPart {
  const page = createDiscordPage(leaves.flatMap(listTextsOfLeaf), mentions === 'live');
  const layout: MessageLayout = { lists: [], items: new Map(), before: undefined };
  for (const leaf of leaves) printDiscordLeaf(page, leaf, startLeaf(page, layout, leaf));
  // Discord interprets this word as a command.
  const text = page.text.replace(/^@(?=silent\b)/, `@${ZERO_WIDTH_SPACE}`);
  return { text, counted: text, entities: page.nodes };
}

function listTextsOfLeaf(leaf: Leaf): string[] {
  const addresses = leaf.kind === 'text' ? leaf.runs.map((run) => findLink(run)?.url ?? '') : [];
  return [...listLeafTexts(leaf), ...addresses];
}

function printDiscordLeaf(page: DiscordPage, leaf: Leaf, place: LeafPlace): void {
  if (leaf.kind === 'text') printText(page, leaf, place);
  else if (leaf.kind === 'rule') page.text += RULE;
  else
    printCode(
      page,
      formatFixedWidth(leaf),
      place,
      leaf.kind === 'code' ? leaf.language : undefined,
    );
}

function printText(page: DiscordPage, leaf: TextLeaf, place: LeafPlace): void {
  // Space after a list item's marker would count as part of it.
  const runs = trimOuterBreaks(leaf.runs, place.level > 0);
  const isBlank = runs.every(({ text }) => text.trim() === '');
  // Discord does not accept an item without text, or a heading in an empty item or after text.
  if (isBlank && place.hasMarker) writeMarkup(page, ZERO_WIDTH_SPACE);
  else if (isBlank) return;
  else if (leaf.heading === undefined || leaf.heading > 3) writeRuns(page, runs, place);
  else if (place.level > 0 || place.hasLabel) writeRuns(page, toBoldRuns(runs), place);
  else printHeading(page, runs, '#'.repeat(leaf.heading), place);
}

function toBoldRuns(runs: readonly TextRun[]): TextRun[] {
  return runs.map(({ text, marks }) => ({
    text,
    marks: [{ type: 'bold' }, ...marks.filter(({ type }) => type !== 'bold')],
  }));
}

function printHeading(
  page: DiscordPage,
  runs: readonly TextRun[],
  sign: string,
  place: LeafPlace,
): void {
  for (const [index, own] of listVisibleLines(runs).entries()) {
    if (index > 0) startNewLine(page, place);
    page.text += `${sign} `;
    page.nodes += 1;
    const from = page.text.length;
    writeRuns(page, own, place);
    // Discord removes `#` from both ends of a heading.
    const shown = page.text.slice(from).replace(/^#/, '\\#').replace(/#$/, `#${ZERO_WIDTH_SPACE}`);
    page.text = page.text.slice(0, from) + shown;
  }
}

/** The runs of each line with visible text. */
function listVisibleLines(runs: readonly TextRun[]): TextRun[][] {
  const lines: TextRun[][] = [[]];
  for (const { text, marks } of runs) {
    for (const [index, part] of text.split('\n').entries()) {
      if (index > 0) lines.push([]);
      if (part !== '') lines.at(-1)?.push({ text: part, marks });
    }
  }
  return lines.filter((line) => line.some(({ text }) => text.trim() !== ''));
}

/** A fence ends at the next three backticks, so the code must not contain any. */
function printCode(
  page: DiscordPage,
  text: string,
  { prefix, inItem }: LeafPlace,
  language?: string,
): void {
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
  writeRaw(page, `\`\`\`${isName ? language : ''}${body}\n${prefix}\`\`\``);
}

/** Discord does not parse lists deeper than this; deeper items get a bullet that is text. */
const MAX_LEVEL = 11;

interface OpenList {
  readonly list: LeafContainer | undefined;
  /**
   * The width of the list's first marker: Discord removes as much from every subsequent line of
   * every item.
   */
  readonly width: number;
  next: number | undefined;
}

interface MessageLayout {
  /** Open lists, outermost first. */
  readonly lists: OpenList[];
  /** The indent of the lines after the first, for each item that begins in this message. */
  readonly items: Map<LeafContainer, number>;
  before: Leaf | undefined;
}

interface LeafPlace {
  /** The prefix of the content's lines after the first. */
  prefix: string;
  /** The number of enclosing list items, and whether the innermost container is one. */
  level: number;
  inItem: boolean;
  /** Whether a list item begins with the leaf. */
  hasMarker: boolean;
  /** Whether other text precedes the content. */
  hasLabel: boolean;
}

/** Writes the text between the previous leaf and this leaf's content. */
function startLeaf(page: DiscordPage, layout: MessageLayout, leaf: Leaf): LeafPlace {
  page.text += getGapBefore(layout, leaf);
  page.after = undefined;
  page.startsLine = true;
  page.joins = false;
  const quote = findQuote(leaf);
  if (quote !== undefined && quote !== findQuote(layout.before)) page.nodes += 1;
  layout.before = leaf;
  const place = { prefix: '', level: 0, inItem: false, hasMarker: false, hasLabel: false };
  let list: LeafContainer | undefined;
  for (const [index, container] of leaf.within.entries()) {
    if (container.type === 'list') list = container;
    else if (container.type === 'quote') startLine(page, place, '> ', '> ');
    else if (index >= leaf.fresh) startItem(page, layout, place, { list, item: container });
    else continueItem(page, place, layout.items.get(container));
  }
  layout.lists.length = place.level;
  return place;
}

/** The innermost quote around a leaf; the transform does not leave nested quotes. */
function findQuote(leaf: Leaf | undefined): LeafContainer | undefined {
  return leaf?.within.findLast(({ type }) => type === 'quote');
}

/** Starts a line for a quote or an item; after a marker, the quote or item gets a separate line. */
function startLine(page: DiscordPage, place: LeafPlace, sign: string, prefix: string): void {
  const isMarked = place.hasMarker || place.hasLabel;
  page.text += isMarked ? `\n${place.prefix}${sign}` : sign;
  page.startsLine = true;
  page.joins = false;
  place.prefix += prefix;
  place.inItem = false;
}

function continueItem(page: DiscordPage, place: LeafPlace, width: number | undefined): void {
  if (width === undefined) return;
  page.text += ' '.repeat(width);
  page.joins = true;
  place.prefix += ' '.repeat(width);
  place.inItem = true;
  place.level += 1;
}

interface OpenItem {
  readonly list: LeafContainer | undefined;
  readonly item: LeafContainer & { readonly type: 'item' };
}

function startItem(
  page: DiscordPage,
  { lists, items }: MessageLayout,
  place: LeafPlace,
  { list, item }: OpenItem,
): void {
  const { level } = place;
  const { number, done } = item.marker;
  if (!isNativeMarker(item.marker, level)) {
    writeLabel(page, place, formatMarker(item.marker));
    return;
  }
  const text = number === undefined ? '- ' : `${number}. `;
  const isNew = !isListContinuation(lists[level], list, item.marker);
  const open = (isNew ? undefined : lists[level]) ?? { list, width: text.length, next: undefined };
  open.next = number === undefined ? undefined : number + 1;
  lists.splice(level, lists.length, open);
  items.set(item, open.width);
  if (isNew) page.nodes += 1;
  startLine(page, place, text, ' '.repeat(open.width));
  place.inItem = true;
  place.hasMarker = true;
  place.level += 1;
  if (done !== undefined) writeLabel(page, place, formatMarker({ done }));
}

/** Text before the content that Discord's lists cannot show: a checkbox, a footnote's name. */
function writeLabel(page: DiscordPage, place: LeafPlace, text: string): void {
  writeLiteralText(page, { text, marks: [], behind: '' });
  place.hasLabel = true;
}

function isNativeMarker({ label, number }: ItemMarker, level: number): boolean {
  // Discord does not start a list with 0.
  return level < MAX_LEVEL && label === undefined && number !== 0;
}

/** Whether Discord would show the next item of this list with exactly this number. */
function isListContinuation(
  open: OpenList | undefined,
  list: LeafContainer | undefined,
  { number }: ItemMarker,
) {
  return open !== undefined && open.list === list && open.next === number;
}

/**
 * Line breaks, and the content of an empty line. Between top-level items an empty line ends the
 * list, and the next one continues with its number. In an item it would also end the list, so a
 * line of spaces replaces the empty line, and no empty line is written next to nested items. Lists
 * and quotes that would merge are separated.
 */
function getGapBefore({ before, lists, items }: MessageLayout, leaf: Leaf): string {
  if (before === undefined) return '';
  const shared = findCommonPrefix(before.within, leaf.within);
  const prefix = getContainerPrefix(shared, items);
  const level = shared.filter((container) => items.has(container)).length;
  const begins = findFirstItem(leaf);
  const open = lists[level];
  const runsIntoList =
    open !== undefined &&
    (begins === undefined
      ? hasLeadingSpace(leaf)
      : !isListContinuation(open, begins.list, begins.marker));
  const quotes = [findQuote(before), findQuote(leaf)];
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

function getContainerPrefix(
  containers: readonly LeafContainer[],
  items: MessageLayout['items'],
): string {
  return containers
    .map((container) => (container.type === 'quote' ? '> ' : ' '.repeat(items.get(container) ?? 0)))
    .join('');
}

/** The outermost item that begins with a leaf. */
function findFirstItem(leaf: Leaf) {
  let list: LeafContainer | undefined;
  for (const [index, container] of leaf.within.entries()) {
    if (container.type === 'list') list = container;
    if (container.type === 'item' && index >= leaf.fresh) return { list, marker: container.marker };
  }
  return undefined;
}

function hasLeadingSpace(leaf: Leaf): boolean {
  return leaf.kind === 'text' && /^\s/.test(leaf.runs[0]?.text ?? '');
}
