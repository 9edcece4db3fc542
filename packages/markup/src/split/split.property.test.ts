import type { RenderTarget } from '@parley/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isVisible, type Leaf } from '../document.ts';
import { PartPrinter } from '../render.ts';
import { finish } from '../steps.ts';
import { anyLeaves, essence, textOf } from '../testing/arbitrary-leaves.ts';
import { splitLeaves, splitNumbered } from './split.ts';

const targets: fc.Arbitrary<RenderTarget> = fc.record({
  dialect: fc.constantFrom('telegram', 'discord', 'whatsapp', 'plain', 'html'),
  maxLength: fc.oneof(fc.integer({ min: 16, max: 64 }), fc.integer({ min: 16, max: 600 })),
  unit: fc.constantFrom('utf16', 'codepoint', 'byte'),
});
const RUNS = { numRuns: 150 };

const split = (leaves: readonly Leaf[], target: RenderTarget) =>
  finish(splitLeaves(leaves, new PartPrinter(target)));

/** Targets that hold every generated link and list, so that nothing has to be made simpler. */
const roomy = targets.map((target) => ({ ...target, maxLength: target.maxLength + 200 }));

describe('splitting any document for any target', () => {
  it('[M03] loses and doubles nothing', () => {
    fc.assert(
      fc.property(anyLeaves, targets, (leaves, target) => {
        expect(essence(split(leaves, target).flat())).toBe(essence(leaves));
      }),
      RUNS,
    );
  });

  it('[M03] makes no part too long and none that shows nothing', () => {
    fc.assert(
      fc.property(anyLeaves, targets, (leaves, target) => {
        for (const part of split(leaves, target)) {
          expect(new PartPrinter(target).load(part)).toBeLessThanOrEqual(1);
          expect(part.some(isVisible)).toBe(true);
        }
      }),
      RUNS,
    );
  });

  it('[M03] never cuts what people see as one character', () => {
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

  it('[M03] leaves no heading at the end of a part if one word more has room', () => {
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
  it('[M03] reports each of several parts which it is, within the limit', () => {
    fc.assert(
      fc.property(anyLeaves, targets, (leaves, target) => {
        const room = new PartPrinter({ ...target, maxLength: target.maxLength + 40 });
        const parts = finish(splitNumbered(leaves, room, 0.6));
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
