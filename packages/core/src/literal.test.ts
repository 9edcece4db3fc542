import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decodeLiteralText,
  splitLiteralText,
  stripNoncharacters,
  toLiteralLine,
  toLiteralMarkdown,
} from './literal.ts';

const text = fc.oneof(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary' }));
const asShown = (one: string) =>
  one
    .replace(/\p{Noncharacter_Code_Point}/gu, '\ufffd')
    .replace(/\r\n?|[\u2028\u2029\u0085\v\f]/g, '\n');

describe('literal text in Markdown', () => {
  it('[M01] does not contain symbols with a meaning in Markdown, or line ends', () => {
    fc.assert(
      fc.property(text, (one) => {
        expect(toLiteralMarkdown(one)).not.toMatch(
          /[\\`*_[\]#|<>~&$@\n]|^[!-/:-@\s]|^\d{1,9}[.)]|[ \t]$|www\.|:\/\//i,
        );
      }),
    );
  });

  it('[M01] is restored exactly, except that noncharacters become U+FFFD', () => {
    fc.assert(
      fc.property(text, (one) => {
        expect(decodeLiteralText(toLiteralMarkdown(one))).toBe(asShown(one));
      }),
    );
  });

  it('[M01] is not affected by the Markdown around it', () => {
    expect(splitLiteralText(`**a** ${toLiteralMarkdown('*')}b`)).toEqual(['**a** ', '*', 'b']);
    expect(decodeLiteralText('**a** `b`')).toBe('**a** `b`');
  });

  it('[M01] cannot be produced by a model', () => {
    fc.assert(
      fc.property(text, (one) => {
        const said = stripNoncharacters(`${one}\ufdd3${toLiteralMarkdown('*')}\u{1fffe}\uffff`);
        expect(decodeLiteralText(said)).toBe(said);
        expect(said).toHaveLength(one.replaceAll(/\p{Noncharacter_Code_Point}/gu, '?').length + 4);
      }),
    );
  });

  it('[M01] can be joined into one line if it has several', () => {
    expect(decodeLiteralText(toLiteralLine(' a\n\n # b '))).toBe('a # b');
  });
});
