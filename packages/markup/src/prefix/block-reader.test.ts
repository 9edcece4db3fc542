import { describe, expect, it } from 'vitest';
import { CAPABILITIES } from '../capabilities.ts';
import { parseTree } from '../parse/parse.ts';
import { PartPrinter } from '../render.ts';
import { BlockReader } from './block-reader.ts';
import { PartMaker } from './part-maker.ts';
import { SegmentParser } from './segments.ts';

const TARGET = { dialect: 'telegram', maxLength: 4_096, unit: 'utf16' } as const;
const DRAFT = { capabilities: CAPABILITIES.telegram, pings: [] };
const STEP = 20;

/** Reads a text in small bits; tells how much the parser was given, in characters. */
function parsedOf(markdown: string, step = STEP): { total: number; most: number } {
  let total = 0;
  let most = 0;
  const counting = (text: string) => {
    total += text.length;
    most = Math.max(most, text.length);
    return parseTree(text);
  };
  const parts = new PartMaker(new PartPrinter(TARGET));
  const reader = new BlockReader(DRAFT, parts, new SegmentParser(counting));
  for (let at = 0; at < markdown.length; at += step) {
    reader.read(markdown.slice(at, at + step));
    const { more, leaves } = reader.open();
    parts.take(more, leaves);
  }
  return { total, most };
}

const paragraph = `${'Some **words** of a paragraph. '.repeat(8).trim()}\n\n`;
const ordinary: [what: string, text: string, longestBlock: number][] = [
  ['paragraphs', paragraph, paragraph.length],
  ['a list', '- an item with **bold** words in it\n', 36],
  ['a list of two lines an item', '1. an item with words\n   and a second line\n', 44],
  ['a list with empty lines', '- an item\n\n  and a paragraph\n\n', 30],
  ['a list with code', '1. an item:\n   ```sh\n   make all\n   ```\n', 60],
  ['headings', '## A heading\n\nText.\n\n', 14],
  ['tables', '| a | b |\n|---|---|\n| 1 | 2 |\n\n', 30],
  ['quotes', '> a quote\n> of two lines\n\n', 25],
];

describe('the work of a growing answer', () => {
  it.each(ordinary)('[F12] for %s is in proportion to its length', (_, text, longestBlock) => {
    const length = 10_000;
    const { total } = parsedOf(text.repeat(length / text.length));
    // Each bit has the open block parsed at most twice, each block is parsed once more at its end.
    const perStep = 2 * (2 * longestBlock + STEP);
    expect(total).toBeLessThan((length / STEP) * perStep + 3 * length);
  });

  it('[F12] for code does not need the parser', () => {
    expect(parsedOf(`\`\`\`js\n${'let a = 1;\n'.repeat(1_000)}`).total).toBeLessThan(100);
  });

  it.each([
    ['a table', '| a | b |\n|---|---|\n', '| some | words |\n'],
    ['a paragraph', '', 'Some words. '],
    ['a list item', '- an item\n', '  and another line\n'],
    ['comments', '<!--\n', 'a\n\n'],
  ])('[F12] for %s without an end is bounded at every step', (_, start, text) => {
    const short = parsedOf(start + text.repeat(40_000 / text.length), 2_000);
    const long = parsedOf(start + text.repeat(60_000 / text.length), 2_000);
    expect(short.most).toBeLessThan(33_000);
    expect(long.total).toBeLessThan(short.total + 3 * 20_000);
  });
});
