import { toRunOptions } from '@parley/core/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CAPABILITIES, type PrintedTarget } from '../capabilities.ts';
import {
  isVisibleLeaf,
  type Leaf,
  type LeafContainer,
  listLeafTexts,
  type RunMark,
  type TableCell,
  type TextRun,
} from '../document.ts';
import { PartPrinter } from '../part-printer.ts';
import { runAllSteps } from '../steps.ts';
import { splitLeaves, splitWithPartNumbers } from './split.ts';

const ADDRESS = 'https://e.org/a?b=c';
/** Only headers use these letters, because splitting repeats headers. */
const HEADER = 'ΑΒΓΔ';

const word = fc.oneof(
  { weight: 6, arbitrary: fc.string({ minLength: 1, maxLength: 9 }).map(onlyLetters) },
  fc.constantFrom('<b>', '**', '"q"', '&amp;', 'e.g.', 'End.', 'Stop!', '@everyone', '#tag', '`'),
  fc.constantFrom('👩‍👩‍👧', '🇩🇪🇫🇷', 'e\u0301', 'कि', '漢字かな。', 'مرحبا؟', '한국어', '😀'),
  fc.integer({ min: 20, max: 90 }).map((length) => 'x'.repeat(length)),
);
const line = fc.array(word, { minLength: 1, maxLength: 12 }).map((words) => words.join(' '));
const mark: fc.Arbitrary<RunMark> = fc.oneof(
  fc.constantFrom('bold', 'italic', 'strike', 'spoiler', 'code').map((type) => ({ type })),
  fc.constant({ type: 'link' as const }).map(({ type }) => ({ type, url: ADDRESS })),
);
const marks = fc.uniqueArray(mark, { maxLength: 2, selector: ({ type }) => type });
const run: fc.Arbitrary<TextRun> = fc.record({ text: line, marks });
const texts = fc
  .array(run, { minLength: 1, maxLength: 5 })
  .map((all) => all.map(({ text, marks: own }) => ({ text: `${text} `, marks: own })));
const cell: fc.Arbitrary<TableCell> = fc.array(run, { minLength: 1, maxLength: 2 });
const header = fc.integer({ min: 1, max: 30 }).map((length) => HEADER.repeat(8).slice(0, length));

const containers: fc.Arbitrary<LeafContainer[]> = fc
  .array(fc.constantFrom('quote', 'bullet', 'number'), { maxLength: 4 })
  .map((kinds) =>
    kinds.flatMap((kind): LeafContainer[] => {
      if (kind === 'quote') return [{ type: 'quote' }];
      if (kind === 'bullet')
        return [
          { type: 'list', start: undefined },
          { type: 'item', marker: {} },
        ];
      return [
        { type: 'list', start: 1 },
        { type: 'item', marker: { number: 1 } },
      ];
    }),
  );
const gap = fc.constantFrom(1 as const, 2 as const);
const placed = { within: containers, gap, fresh: fc.constant(0) };

const text = fc.record({ ...placed, kind: fc.constant('text' as const), runs: texts });
const heading = fc.record({
  ...placed,
  kind: fc.constant('text' as const),
  heading: fc.integer({ min: 1, max: 6 }),
  runs: fc.array(run, { minLength: 1, maxLength: 1 }),
});
const code = fc.record({
  ...placed,
  kind: fc.constant('code' as const),
  language: fc.constantFrom(undefined, 'js'),
  text: fc
    .array(fc.oneof(line, fc.constantFrom('', '    ')), { minLength: 1, maxLength: 12 })
    .map((lines) => ['first', ...lines].join('\n')),
});
const grid = fc.record({
  ...placed,
  kind: fc.constant('grid' as const),
  header: header.map((first) => [first, '─'.repeat(first.length)]),
  rows: fc.array(line, { maxLength: 6 }),
});
const table = fc.record({
  ...placed,
  kind: fc.constant('table' as const),
  align: fc.constant([undefined, undefined]),
  header: fc.tuple(header, header).map((names) => names.map((name) => [{ text: name, marks: [] }])),
  rows: fc.array(fc.array(cell, { minLength: 2, maxLength: 2 }), { maxLength: 5 }),
});
const rule = fc.record({ ...placed, kind: fc.constant('rule' as const) });

/**
 * Documents with every kind of leaf for tests, deeply nested, with words of any script and length.
 */
const anyLeaves: fc.Arbitrary<Leaf[]> = fc.array(
  fc.oneof({ weight: 4, arbitrary: text }, heading, code, grid, table, rule),
  { minLength: 1, maxLength: 8 },
);

/** The content of leaves for tests, without whitespace and without text that splitting may add. */
function essence(leaves: readonly Leaf[]): string {
  const said = leaves
    .map(textOf)
    .join('')
    .replaceAll(/[\s\p{Default_Ignorable_Code_Point}]/gu, '');
  return said.replaceAll(`(${ADDRESS})`, '').replaceAll(/[ΑΒΓΔ─:·]/g, '');
}

function textOf(leaf: Leaf): string {
  return [...listLeafTexts(leaf)].join(leaf.kind === 'text' ? '' : '\n');
}

function onlyLetters(random: string): string {
  return random.replaceAll(/[^a-zA-Z0-9]/g, 'n');
}

const targets: fc.Arbitrary<PrintedTarget> = fc.record({
  dialect: fc.constantFrom(...(Object.keys(CAPABILITIES) as PrintedTarget['dialect'][])),
  maxLength: fc.oneof(fc.integer({ min: 16, max: 64 }), fc.integer({ min: 16, max: 600 })),
  unit: fc.constantFrom('utf16', 'codepoint', 'byte'),
});
const RUNS = toRunOptions(150);

const split = (leaves: readonly Leaf[], target: PrintedTarget) =>
  runAllSteps(splitLeaves(leaves, new PartPrinter(target)));

/**
 * Targets with enough space for every generated link and list, so that no leaf has to be
 * simplified.
 */
const roomy = targets.map((target) => ({ ...target, maxLength: target.maxLength + 200 }));

describe('splitting any document for any target', () => {
  it('[M03] neither loses nor duplicates text', () => {
    fc.assert(
      fc.property(anyLeaves, targets, (leaves, target) => {
        expect(essence(split(leaves, target).flat())).toBe(essence(leaves));
      }),
      RUNS,
    );
  });

  it('[M03] never creates a part that is too long or has no visible content', () => {
    fc.assert(
      fc.property(anyLeaves, targets, (leaves, target) => {
        for (const part of split(leaves, target)) {
          expect(new PartPrinter(target).load(part)).toBeLessThanOrEqual(1);
          expect(part.some(isVisibleLeaf)).toBe(true);
        }
      }),
      RUNS,
    );
  });

  it('[M03] never cuts a user-perceived character', () => {
    const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
    fc.assert(
      fc.property(anyLeaves, roomy, (leaves, target) => {
        let before = '';
        for (const part of split(leaves, target)) {
          const text = part.map(textOf).join('\n');
          const joined = graphemes.segment(before + text);
          if (text !== '') expect(joined.containing(before.length)?.index).toBe(before.length);
          before = part.at(-1)?.kind === 'text' ? text : '';
        }
      }),
      RUNS,
    );
  });

  it('[M03] does not leave a heading at the end of a part when one more word fits', () => {
    fc.assert(
      fc.property(anyLeaves, roomy, (leaves, target) => {
        const parts = split(leaves, target);
        for (const [index, part] of parts.entries()) {
          const last = part.at(-1);
          const next = parts[index + 1]?.[0];
          if (last?.kind !== 'text' || last.heading === undefined) continue;
          if (next?.kind !== 'text' || next.heading !== undefined) continue;
          if (next.runs.some(({ marks }) => marks.length > 0)) continue;
          const [word = ''] = textOf(next).trim().split(/\s/);
          const more: Leaf = { ...next, runs: [{ text: word, marks: [] }] };
          expect(new PartPrinter(target).load([...part, more])).toBeGreaterThan(1);
        }
      }),
      RUNS,
    );
  });
});

describe('numbering the parts of any document', () => {
  it('[M03] numbers each of several parts, within the limit', () => {
    fc.assert(
      fc.property(anyLeaves, targets, (leaves, target) => {
        const room = new PartPrinter({ ...target, maxLength: target.maxLength + 40 });
        const parts = runAllSteps(splitWithPartNumbers(leaves, room, 0.6));
        for (const [index, part] of parts.entries()) {
          const label = parts.length === 1 ? [] : part.slice(-1);
          const expected = parts.length === 1 ? '' : `(${index + 1}/${parts.length})`;
          expect(label.map(textOf).join('')).toBe(expected);
          expect(room.load(part)).toBeLessThanOrEqual(1);
        }
        const unnumbered = parts.flatMap((part) => (parts.length === 1 ? part : part.slice(0, -1)));
        expect(essence(unnumbered)).toBe(essence(leaves));
      }),
      RUNS,
    );
  });
});
