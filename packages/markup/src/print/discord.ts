import type { Leaf, Run, TextLeaf } from '../document.ts';
import { withoutOuterBreaks } from '../transform/join-runs.ts';
import { escapeSigns } from './discord-escape.ts';
import { type LineStart, putRuns } from './discord-inline.ts';
import { newLayout, type Place, placeNext } from './discord-layout.ts';
import { putLiteral } from './discord-literal.ts';
import { newLine, newPage, type Page, put, putRaw, ZERO_WIDTH_SPACE } from './discord-page.ts';
import { plainText, RULE } from './plain.ts';
import type { Printed } from './printed.ts';

/**
 * Prints Discord's Markdown: what its clients show as it is meant, with no more backslashes than
 * that takes. Everything that is sent counts.
 * @param mentions `live`: what looks like a mention is left as it is.
 */
export function printDiscord(leaves: readonly Leaf[], mentions?: 'live'): Printed {
  const page = newPage(mentions === 'live');
  const layout = newLayout();
  for (const leaf of leaves) {
    const place = placeNext(layout, leaf);
    page.nodes += place.begun;
    startLeaf(page, place);
    printLeaf(page, leaf, place);
  }
  const text = escapeSigns(page);
  return { text, counted: text, entities: page.nodes };
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
  switch (leaf.kind) {
    case 'text':
      printText(page, leaf, place);
      break;
    case 'rule':
      put(page, RULE);
      break;
    case 'code':
      printCode(page, leaf.text, place, leaf.language);
      break;
    case 'grid':
      printCode(page, [...leaf.header, ...leaf.rows].join('\n'), place);
      break;
    case 'table':
      // The transform lays tables out; should one be left, its cells are still shown.
      printCode(page, plainText([{ ...leaf, within: [] }], { addresses: true }), place);
      break;
  }
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

/** Every line is a heading of its own. */
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
