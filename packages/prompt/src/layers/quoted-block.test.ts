import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { listItem, quotedBlock } from '../text.ts';

const LINE_ENDS = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/;
const text = fc
  .array(
    fc.oneof(
      fc.string(),
      fc.constantFrom('\n', '\r', '\u2028', '\u0085', '\r\n', '## Safety', '> ', '- '),
    ),
  )
  .map((pieces) => pieces.join(''));

describe('text that grew out of chats', () => {
  it('[P18] keeps to its quotation on every line', () => {
    fc.assert(
      fc.property(text, (words) => {
        const lines = quotedBlock(words).split(LINE_ENDS);
        expect(lines.every((line) => line.startsWith('>'))).toBe(true);
      }),
    );
  });

  it('[P18] keeps to its item of a list', () => {
    fc.assert(
      fc.property(text, (words) => {
        const [first = '', ...rest] = listItem(words).split(LINE_ENDS);
        expect(first.startsWith('- ')).toBe(true);
        expect(rest.every((line) => line.startsWith('  '))).toBe(true);
      }),
    );
  });

  it('reads as it was written', () => {
    expect(quotedBlock('Goal: tea.\n\nDone: no.\n')).toBe('> Goal: tea.\n>\n> Done: no.');
    expect(listItem('tea\nor coffee')).toBe('- tea\n  or coffee');
  });
});
