import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findNearestWord } from './check.ts';

describe('nearest', () => {
  it.each([
    ['levle', ['level', 'format'], 'level'],
    ['API_KEY', ['apiKey', 'baseUrl'], 'apiKey'],
    ['time-zone', ['timeZone'], 'timeZone'],
    ['zebra', ['level', 'format'], undefined],
    ['x', [], undefined],
    ['prt', ['port', 'part'], 'port'],
    ['auot', ['auto'], 'auto'],
    ['tokne', ['taken', 'token'], 'token'],
    ['abcd', ['badc'], undefined],
    ['kitten', ['sitting'], undefined],
    ['sittin', ['kitten', 'sitting'], 'sitting'],
  ])('[D12] for %s among %j suggests %s', (written, candidates, meant) => {
    expect(findNearestWord(written, candidates)).toBe(meant);
  });

  it('[D12] matches a word to itself, and two words of the same length either to each other or not at all', () => {
    const words = fc.integer({ min: 1, max: 12 }).chain((length) => {
      const word = fc.string({
        minLength: length,
        maxLength: length,
        unit: fc.constantFrom(...'abc'),
      });
      return fc.tuple(word, word);
    });
    fc.assert(
      fc.property(words, ([one, other]) => {
        expect(findNearestWord(one, [other, one])).toBe(one);
        expect(findNearestWord(one, [other]) === undefined).toBe(
          findNearestWord(other, [one]) === undefined,
        );
      }),
    );
  });
});
