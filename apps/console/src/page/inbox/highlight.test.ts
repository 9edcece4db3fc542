import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hasAllWords, highlightMatches } from './highlight.ts';

const hits = (text: string, asked: string) =>
  highlightMatches(text, asked)
    .filter(({ isHit }) => isHit)
    .map(({ text: piece }) => piece);

describe('search words', () => {
  it.each([
    ['Wie groß ist die Größe?', 'grosse', ['Größe']],
    ['Wie groß ist die Größe?', 'GROSS', ['groß', 'Größ']],
    ['公园在哪里', '公园', ['公园']],
    ['a train, a Train', 'train', ['train', 'Train']],
    ['cafe\u0301 noir', 'café', ['cafe\u0301']],
    ['aaa', 'aa', ['aaa']],
    ['nothing', 'x', []],
    ['nothing', ' ?! ', []],
  ])('[U08] marks the words in "%s" when searching for "%s"', (text, asked, found) => {
    expect(hits(text, asked)).toEqual(found);
  });

  it.each([
    ['Ann of the harbor', 'harbor ann', true],
    ['Ann of the harbor', 'harbor ben', false],
    ['Größe', 'GROSSE', true],
    ['Ann', '', false],
    ['Ann', ' ?! ', false],
    ['', 'ann', false],
  ])(
    '[U08] finds a title only if it contains all search words: "%s" for "%s"',
    (title, asked, isFound) => {
      expect(hasAllWords(title, asked)).toBe(isFound);
    },
  );

  it('[U08] marks words without changing the text, whatever it contains', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme' }),
        fc.string({ unit: 'grapheme' }),
        (text, asked) => {
          const pieces = highlightMatches(text, asked);
          expect(pieces.map((piece) => piece.text).join('')).toBe(text);
        },
      ),
    );
  });
});
