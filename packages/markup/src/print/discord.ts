import type { Container, Leaf, Marker, Run, TextLeaf } from '../document.ts';
import { withoutOuterBreaks } from '../transform/runs.ts';
import { newLine, newPage, type Page, put, putRaw, ZERO_WIDTH_SPACE } from './discord-page.ts';
import { type LineStart, putLiteral, putRuns } from './discord-text.ts';
import { commonStart, markerText, type Printed } from './lines.ts';
import { fixedText, RULE } from './plain.ts';

/**
 * Prints Discord's Markdown: what its clients show as it is meant, with no more backslashes than
 * that takes. Everything that is sent counts.
 * @param mentions `live`: what looks like a mention is left as it is.
 */
export function printDiscord(leaves: readonly Leaf[], mentions?: 'live'): Printed {
  const page = newPage(leaves, mentions === 'live');
  const layout: Layout = { lists: [], items: new Map(), before: undefined };
  for (const leaf of leaves) {
    const place = placeNext(layout, leaf);
    page.nodes += place.begun;
    startLeaf(page, place);
    printLeaf(page, leaf, place);
  }
  return { text: page.text, counted: page.text, entities: page.nodes };
}

function startLeaf(page: Page, place: Place): void {
  const { start, label, then } = place;
  page.text += start;
  page.closed = false;
  page.startsLine = true;
  page.joins = place.continuesItem;
  page.lineAt = -1;
  if (label !== '') putLiteral(page, label, { marks: [], glued: false });
  if (then !== '') {
    page.text += then;
    page.startsLine = true;
  }
  page.joins = place.inItem && !place.hasMarker && label === '';
}

function printLeaf(page: Page, leaf: Leaf, place: Place): void {
  if (leaf.kind === 'text') printText(page, leaf, place);
  else if (leaf.kind === 'rule') put(page, RULE);
  else printCode(page, fixedText(leaf), place, leaf.kind === 'code' ? leaf.language : undefined);
}

function printText(page: Page, leaf: TextLeaf, place: Place): void {
  const runs = withoutIndent(withoutOuterBreaks(leaf.runs), place.level > 0);
  const isBlank = runs.every(({ text }) => text.trim() === '');
  // Discord takes no item without text, and no heading in one or behind text.
  if (isBlank) put(page, place.hasMarker ? ZERO_WIDTH_SPACE : '');
  else if (leaf.heading === undefined || leaf.heading > 3) putRuns(page, runs, place);
  else if (place.level > 0 || place.label !== '') putRuns(page, boldRuns(runs), place);
  else printHeading(page, runs, '#'.repeat(leaf.heading), place);
}

/** Space behind a marker would count as a part of it. */
function withoutIndent(runs: readonly Run[], inList: boolean): readonly Run[] {
  const start = runs.findIndex((run) => run.text.trim() !== '' || isCode(run));
  const first = runs[start];
  if (first === undefined || !inList) return runs;
  const text = isCode(first) ? first.text : first.text.trimStart();
  return [{ ...first, text }, ...runs.slice(start + 1)];
}

function isCode({ marks }: Run): boolean {
  return marks.some(({ type }) => type === 'code');
}

function boldRuns(runs: readonly Run[]): Run[] {
  return runs.map(({ text, marks }) => ({
    text,
    marks: [{ type: 'bold' }, ...marks.filter(({ type }) => type !== 'bold')],
  }));
}

function printHeading(page: Page, runs: readonly Run[], sign: string, line: LineStart): void {
  for (const [index, own] of linesOf(runs).entries()) {
    if (index > 0) newLine(page, line.prefix, false);
    page.text += `${sign} `;
    page.nodes += 1;
    // Discord takes `#` off both ends of a heading.
    const [first, ...others] = own;
    const opens = first?.text.startsWith('#') === true && first.marks.length === 0;
    if (first !== undefined && opens) {
      put(page, '\\#');
      putRuns(page, [{ ...first, text: first.text.slice(1) }, ...others], line);
    } else putRuns(page, own, line);
    if (page.text.endsWith('#')) put(page, ZERO_WIDTH_SPACE);
  }
}

/** The runs of each line that shows something. */
function linesOf(runs: readonly Run[]): Run[][] {
  const lines: Run[][] = [[]];
  for (const { text, marks } of runs) {
    for (const [index, part] of text.split('\n').entries()) {
      if (index > 0) lines.push([]);
      if (part !== '') lines.at(-1)?.push({ text: part, marks });
    }
  }
  return lines.filter((line) => line.some(({ text }) => text.trim() !== ''));
}

/** A fence ends at the next three backticks, so there are none in it. */
function printCode(page: Page, text: string, { prefix, inItem }: Place, language?: string): void {
  // Of code without anything to see Discord would show the language.
  const isName = language !== undefined && /^[\w+\-.#]{1,40}$/.test(language) && text.trim() !== '';
  // Without a space an empty line would end the list.
  const empty = inItem ? `${prefix} ` : prefix;
  const body = text
    .replaceAll(/`{3,}/g, (ticks) => [...ticks].join(ZERO_WIDTH_SPACE))
    .split('\n')
    .map((line) => `\n${line.trim() === '' ? empty : prefix + line}`)
    .join('');
  page.joins = false;
  putRaw(page, `\`\`\`${isName ? language : ''}${body}\n${prefix}\`\`\``);
  page.nodes += 1;
}

/** Discord reads no lists deeper than this; deeper items get a bullet that is text. */
const MAX_LEVEL = 11;

/** A list that Discord still reads on. */
interface OpenList {
  readonly list: Container | undefined;
  /** How wide its first marker is: so much Discord takes off every other line of every item. */
  readonly width: number;
  next: number | undefined;
}

/** What has been placed in a message so far. */
interface Layout {
  /** Lists still open, outermost first. */
  readonly lists: OpenList[];
  /** How far the other lines of each item are indented that begins in this message. */
  readonly items: Map<Container, number>;
  before: Leaf | undefined;
}

interface Place {
  /** From the end of the leaf before to the content, with markers; `label` and `then` follow. */
  readonly start: string;
  /** Text in front of the content that no list of Discord's can show: a box, a footnote's name. */
  readonly label: string;
  readonly then: string;
  /** What the content's other lines begin with. */
  readonly prefix: string;
  /** How many list items it stands in, and whether the innermost container is one. */
  readonly level: number;
  readonly inItem: boolean;
  /** Whether `label` begins another line of an item. */
  readonly continuesItem: boolean;
  /** Whether an item begins with it. */
  readonly hasMarker: boolean;
  /** Lists and quotes that Discord reads as new. */
  readonly begun: number;
}

type Step =
  | { readonly kind: 'quote' }
  | { readonly kind: 'indent'; readonly width: number }
  /** An item with Discord's own marker. */
  | {
      readonly kind: 'marker';
      readonly text: string;
      readonly width: number;
      readonly isNew: boolean;
    }
  | { readonly kind: 'label'; readonly text: string };

/** Finds out where the next leaf stands and remembers it. */
function placeNext(layout: Layout, leaf: Leaf): Place {
  const { before } = layout;
  const gap = gapBefore(layout, leaf);
  const steps = stepsTo(layout, leaf);
  layout.before = leaf;
  const isNewQuote = quoteOf(leaf) !== undefined && quoteOf(leaf) !== quoteOf(before);
  const newLists = steps.filter((step) => step.kind === 'marker' && step.isNew).length;
  const last = steps.findLast(({ kind }) => kind !== 'label')?.kind;
  return {
    ...lineUp(steps, gap),
    level: layout.lists.length,
    inItem: last === 'indent' || last === 'marker',
    hasMarker: steps.some(({ kind }) => kind === 'marker'),
    begun: newLists + (isNewQuote ? 1 : 0),
  };
}

/** The innermost quote a leaf stands in; the transform leaves none in another. */
function quoteOf(leaf: Leaf | undefined): Container | undefined {
  return leaf?.within.findLast(({ type }) => type === 'quote');
}

/** The containers of a leaf as Discord shows them, and the lists that are open behind them. */
function stepsTo({ lists, items }: Layout, leaf: Leaf): Step[] {
  const steps: Step[] = [];
  let level = 0;
  let list: Container | undefined;
  for (const [index, container] of leaf.within.entries()) {
    if (container.type === 'quote') steps.push({ kind: 'quote' });
    if (container.type === 'list') list = container;
    if (container.type !== 'item') continue;
    const { marker } = container;
    const width = items.get(container);
    if (index < leaf.fresh) {
      if (width === undefined) continue;
      steps.push({ kind: 'indent', width });
      level += 1;
    } else if (isNative(marker, level)) {
      const text = marker.number === undefined ? '- ' : `${marker.number}. `;
      const isNew = !continues(lists[level], list, marker);
      const open = (isNew ? undefined : lists[level]) ?? {
        list,
        width: text.length,
        next: undefined,
      };
      open.next = marker.number === undefined ? undefined : marker.number + 1;
      lists[level] = open;
      lists.length = level + 1;
      items.set(container, open.width);
      steps.push({ kind: 'marker', text, width: open.width, isNew });
      level += 1;
      if (marker.done !== undefined)
        steps.push({ kind: 'label', text: markerText({ done: marker.done }) });
    } else steps.push({ kind: 'label', text: markerText(marker) });
  }
  lists.length = level;
  return steps;
}

function isNative({ label, number }: Marker, level: number): boolean {
  // Discord begins no list with 0.
  return level < MAX_LEVEL && label === undefined && number !== 0;
}

/** Whether Discord would show the next item of this list with this very number. */
function continues(open: OpenList | undefined, list: Container | undefined, { number }: Marker) {
  return open !== undefined && open.list === list && open.next === number;
}

/**
 * Line ends, and what stands on an empty line. Between top-level items an empty line ends the list
 * and the next one goes on with its number. In an item it would end the list too, so there a line of
 * spaces is the empty line, and none stands beside nested items. Lists and quotes that would run
 * together are kept apart.
 */
function gapBefore({ before, lists, items }: Layout, leaf: Leaf): string {
  if (before === undefined) return '';
  const shared = commonStart(before.within, leaf.within);
  const prefix = prefixOf(shared, items);
  const level = shared.filter((container) => items.has(container)).length;
  const begins = firstItem(leaf);
  const open = lists[level];
  const runsIntoList =
    open !== undefined &&
    (begins === undefined ? startsWithSpace(leaf) : !continues(open, begins.list, begins.marker));
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

function prefixOf(containers: readonly Container[], items: Layout['items']): string {
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

/** Puts markers in line; a quote or an item that begins behind a marker gets a line of its own. */
function lineUp(steps: readonly Step[], gap: string) {
  let start = gap;
  let label = '';
  let then = '';
  let prefix = '';
  let isMarked = false;
  let continuesItem = false;
  let before: Step['kind'] | undefined;
  const add = (text: string) => {
    if (label === '') start += text;
    else then += text;
  };
  for (const step of steps) {
    if (isMarked && (step.kind === 'quote' || step.kind === 'marker')) add(`\n${prefix}`);
    switch (step.kind) {
      case 'quote':
        add('> ');
        prefix += '> ';
        break;
      case 'indent':
        add(' '.repeat(step.width));
        prefix += ' '.repeat(step.width);
        break;
      case 'marker':
        add(step.text);
        prefix += ' '.repeat(step.width);
        break;
      case 'label':
        continuesItem ||= label === '' && before === 'indent';
        if (then === '') label += step.text;
        else then += step.text.replace('. ', '\\. ');
        break;
    }
    isMarked ||= step.kind === 'marker' || step.kind === 'label';
    before = step.kind;
  }
  return { start, label, then, prefix, continuesItem };
}
