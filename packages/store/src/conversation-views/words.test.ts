import { describe, expect, it } from 'vitest';
import { excerptMatch, extractSearchWords, matchesTerms, parseTerms } from './search-index.ts';

describe('text search', () => {
  it.each([
    ['Größe, ÜBUNG & Café!', ['grosse', 'ubung', 'cafe']],
    ['我们明天见abc', ['我', '们', '明', '天', '见', 'abc']],
    ["it's 3.5 km", ['it', 's', '3', '5', 'km']],
    ['Ёлка йод', ['елка', 'иод']],
    ['हिन्दी में', ['हिन्दी', 'में']],
    ['🦜 ½ ﬁn', ['12', 'fin']],
    ['', []],
  ])('[U08] splits %j into words, ignoring case and accents', (text, words) => {
    expect(extractSearchWords(text)).toEqual(words);
  });

  it.each([
    ['Die Größe der Übung', 'grös', true],
    ['Die Größe der Übung', 'ubung größe', true],
    ['Die Größe der Übung', 'öße', false],
    ['我们明天见', '明天', true],
    ['我们明天见', '天明', false],
    ['dial 3.5 now', '3.5', true],
    ['dial 3 now 5', '3.5', false],
  ])('[U08] matches %j against the query %j: %j', (text, typed, found) => {
    expect(matchesTerms(text, parseTerms(typed))).toBe(found);
  });

  it('[U08] shows a match with the text around it and never cuts a character in half', () => {
    const text = `${'🦜'.repeat(60)} the needle is here ${'x '.repeat(200)}`;
    const shown = excerptMatch(text, parseTerms('needle'));
    expect(shown).toMatch(/^…🦜.* the needle is here x .*…$/u);
    expect(shown.isWellFormed()).toBe(true);
    expect(shown.length).toBeLessThan(250);
  });

  it('[U08] uses at most ten terms of a query and ignores terms made of punctuation', () => {
    expect(parseTerms(' ! ')).toEqual([]);
    expect(parseTerms('a '.repeat(50))).toHaveLength(10);
  });
});
