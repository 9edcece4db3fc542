import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createBoundedOutput } from './run.ts';

describe('the two ends of an output', () => {
  it('[P10] are the whole output if it is short enough, regardless of the chunks', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', maxLength: 40 }),
        fc.integer({ min: 1, max: 5 }),
        (text, size) => {
          const keeper = createBoundedOutput(1_000);
          const bytes = Buffer.from(text);
          for (let at = 0; at < bytes.length; at += size) keeper.add(bytes.subarray(at, at + size));
          expect(keeper.text()).toBe(text);
        },
      ),
    );
  });

  it('[P10] are the start and the end, with the number of characters left out', () => {
    fc.assert(
      fc.property(fc.array(fc.stringMatching(/^[a-z]{0,30}$/)), (pieces) => {
        const whole = pieces.join('');
        const keeper = createBoundedOutput(20);
        for (const piece of pieces) keeper.add(Buffer.from(piece));
        const expected =
          whole.length <= 20
            ? whole
            : `${whole.slice(0, 10)}\n\n[Cut: ${whole.length - 20} of ${whole.length} characters of output are left out here.]\n\n${whole.slice(-10)}`;
        expect(keeper.text().replaceAll(',', '')).toBe(expected);
      }),
    );
  });

  it('[P10] never split a character', () => {
    const keeper = createBoundedOutput(3);
    keeper.add(Buffer.from('😀😀😀😀'));
    expect(keeper.text().isWellFormed()).toBe(true);
  });
});
