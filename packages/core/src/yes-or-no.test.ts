import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseYesOrNo } from './yes-or-no.ts';

const YES = ['yes', 'ok', 'ja', 'да', 'sí', '好的', '👍', 'go ahead', 'mach das'];
const NO = ['no', 'nein', 'нет', 'não', '不', '👎', 'don’t'];

describe('a yes or no in a message', () => {
  it.each([
    ['yes', 'yes'],
    ['Ok, do it!', 'yes'],
    ['s’il te plaît oui', 'yes'],
    ['ＯＫ', 'yes'],
    ['не надо', 'no'],
    ['No, thank you.', 'no'],
    ['yes no', 'unclear'],
    ['ok?', 'unclear'],
    ['no problem', 'unclear'],
    ['wait', 'unclear'],
    ['I think yes', null],
    ['okra', null],
    ['thanks', null],
    ['…', null],
    ['', null],
    ['*Yes*', 'yes'],
    ['好的～', 'yes'],
    ['~~yes~~', null],
    ['ok 😀', 'yes'],
    ["don't deny it", 'unclear'],
    ['never refuse', 'unclear'],
    ['no, no, deny it', 'no'],
    ['please do not', 'no'],
    ['Please do.', 'yes'],
    ['ja, mach das', 'yes'],
    ['ja, mach das nicht', 'unclear'],
    // A quotation contains another person's text.
    ['> yes', 'unclear'],
    ['>>> yes', 'unclear'],
    ['> May I write it?\nyes', 'unclear'],
    ['> yes\nwhat do you think of that', null],
    // The word has different meanings in different languages.
    ['tak', null],
    ['da', null],
    ['jo', null],
    ['можно', null],
  ])('[G05] %j is recognized as %s', (text, meaning) => {
    expect(parseYesOrNo(text)).toBe(meaning);
  });

  it('[G05] is not recognized at any position in a sentence with other words', () => {
    const other = fc
      .stringMatching(/^[b-hj-mo-rt-xz]{4,9}$/)
      .filter((word) => parseYesOrNo(word) === null);
    const place = fc.constantFrom('before', 'behind');
    fc.assert(
      fc.property(fc.constantFrom(...YES, ...NO), other, place, (word, more, where) => {
        const text = where === 'before' ? `${more} ${word}` : `${word}, ${more}`;
        expect(parseYesOrNo(text)).toBe(where === 'before' ? null : 'unclear');
      }),
    );
  });

  it('[G05] keeps its meaning with punctuation, case and politeness around it', () => {
    const end = fc.constantFrom('', '.', '!', '!!', ' 🙏', ', please', ' danke.');
    fc.assert(
      fc.property(fc.constantFrom(...YES), fc.constantFrom(...NO), end, (yes, no, more) => {
        expect(parseYesOrNo(`  ${yes.toUpperCase()}${more}`)).toBe('yes');
        expect(parseYesOrNo(`${no.toUpperCase()}${more} `)).toBe('no');
      }),
    );
  });
});
