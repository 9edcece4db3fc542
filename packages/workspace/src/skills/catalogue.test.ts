import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { estimateTokens } from '../text.ts';
import {
  type CatalogueEntry,
  findLargestFitting,
  renderCatalogueEntry,
  selectCatalogue,
} from './catalogue.ts';

const LIMITS = { skills: 150, characters: 30_000 };
const entry = (n: number, description = `When number ${n} is wanted.`): CatalogueEntry => ({
  name: `skill-${n}`,
  description,
  location: `~/.agents/skills/skill-${n}/SKILL.md`,
});
const many = (count: number, description?: string) =>
  Array.from({ length: count }, (_, n) => entry(n, description));

describe('the skill catalog', () => {
  it('[S04] lists one element per skill, with name, description and location', () => {
    expect(selectCatalogue(many(1), LIMITS).text).toBe(
      [
        '<available_skills>',
        '<skill><name>skill-0</name><description>When number 0 is wanted.</description><location>~/.agents/skills/skill-0/SKILL.md</location></skill>',
        '</available_skills>',
      ].join('\n'),
    );
  });

  it('[S04] is empty if there are no skills', () => {
    expect(selectCatalogue([], LIMITS)).toEqual({ text: '', entries: [], left: 0 });
  });

  it("[S04] escapes text from a skill's author", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (description, location) => {
        const { text } = selectCatalogue([{ name: 'a', description, location }], LIMITS);
        const tags = text.match(/<[^>]*>/g) ?? [];
        expect(tags).toHaveLength(10);
        expect(
          text.replaceAll(/<\/?(available_skills|skill|name|description|location)>/g, ''),
        ).not.toMatch(/[<>]/);
      }),
    );
  });

  it('[S05] contains at most 150 skills and counts the rest', () => {
    const { entries, left } = selectCatalogue(many(1_000, 'x'), LIMITS);
    expect([entries.length, left]).toEqual([150, 850]);
  });

  it('[S05] omits as few skills as possible, and only when every description has the minimum length', () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 300 }), { maxLength: 40 });
    fc.assert(
      fc.property(sizes, fc.nat(12_000), (lengths, characters) => {
        const entries = lengths.map((length, n) => entry(n, 'x'.repeat(length)));
        const {
          text,
          entries: shown,
          left,
        } = selectCatalogue(entries, { skills: 150, characters });
        expect(text.length).toBeLessThanOrEqual(characters);
        expect(shown.length + left).toBe(entries.length);
        if (left === 0) return;
        for (const { description } of shown) expect(description.length).toBeLessThan(100);
        const next = renderCatalogueEntry(shortestOf(entries[shown.length] ?? entry(0)));
        const wrapper =
          shown.length === 0
            ? selectCatalogue(many(1), LIMITS).text.length - renderCatalogueEntry(entry(0)).length
            : 1;
        expect(text.length + next.length + wrapper).toBeGreaterThan(characters);
      }),
    );
  });

  it('[S05] [S10] truncates descriptions only when the budget is short, the longest first and all to the same length', () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 2_000 }), { minLength: 1, maxLength: 60 });
    fc.assert(
      fc.property(sizes, (lengths) => {
        const entries = lengths.map((length, n) =>
          entry(n, 'word '.repeat(length).slice(0, length)),
        );
        const { text, entries: shown, left } = selectCatalogue(entries, LIMITS);
        const whole = [
          '<available_skills>',
          ...entries.map(renderCatalogueEntry),
          '</available_skills>',
        ].join('\n');
        const tokens = 90 * Math.max(20, entries.length);
        const fitsWhole = whole.length <= LIMITS.characters && estimateTokens(whole) <= tokens;
        const isCut = ({ description }: CatalogueEntry) => description.includes('[cut: ');
        expect(left).toBe(0);
        expect(estimateTokens(text)).toBeLessThanOrEqual(tokens);
        expect(shown.some(isCut)).toBe(!fitsWhole);
        const wholeLengths = lengths.filter((_, n) => !isCut(shown[n] ?? entry(0)));
        const cutLengths = lengths.filter((_, n) => isCut(shown[n] ?? entry(0)));
        expect(Math.max(0, ...wholeLengths)).toBeLessThan(Math.min(Infinity, ...cutLengths));
        const seen = shown.filter(isCut).map(({ description }) => description.indexOf(' …'));
        expect(Math.max(0, ...seen) - Math.min(...seen, Infinity)).toBeLessThanOrEqual(5);
      }),
    );
  });

  it('[S05] finds the number of skills that fit in a few steps', () => {
    let asked = 0;
    const found = findLargestFitting(1_000, (count) => {
      asked += 1;
      return count <= 617;
    });
    expect(found).toBe(617);
    expect(asked).toBeLessThanOrEqual(10);
  });
});

/** Renders a skill as in a catalog without remaining space. */
function shortestOf(one: CatalogueEntry): CatalogueEntry {
  const { length } = one.description;
  const notice = ` … [cut: 40 of ${length} characters]`;
  if (length <= 40 + notice.length + `${length}`.length - 2) return one;
  return { ...one, description: one.description.slice(0, 40) + notice };
}

const LANGUAGES = [
  ['English', 'Plans a journey with trains and hotels. '.repeat(100)],
  ['Chinese', '安排旅行和酒店。'.repeat(200)],
  ['what must be escaped', '"<a>&<b>" '.repeat(200)],
] as const;

describe('the token cost of a skill', () => {
  it.each(LANGUAGES)(
    '[S10] costs about 100 tokens per skill when many have long descriptions in %s',
    (_case, description) => {
      const { text, left } = selectCatalogue(many(60, description), LIMITS);
      expect(left).toBe(0);
      expect(estimateTokens(text)).toBeLessThanOrEqual(60 * 100);
    },
  );

  it.each(LANGUAGES)(
    '[S10] costs less than 2,000 tokens for 20 skills, including the rules above them, in %s',
    (_case, description) => {
      const { text, left } = selectCatalogue(many(20, description), LIMITS);
      expect(left).toBe(0);
      expect(estimateTokens(text)).toBeLessThanOrEqual(1_850);
    },
  );

  it('[S05] keeps long descriptions next to short ones', () => {
    const long = 'Plans a journey with trains and hotels. '.repeat(30).trim();
    const entries = [entry(0, long), ...many(10), entry(11, long)];
    expect(selectCatalogue(entries, LIMITS)).toMatchObject({ entries, left: 0 });
  });

  it('[P10] [S05] marks a truncated description, gives its length, and ends it with a sentence', () => {
    const sentence = 'Plans a journey with trains and hotels. ';
    const { entries } = selectCatalogue(many(20, sentence.repeat(100).trim()), LIMITS);
    expect(entries[0]?.description).toMatch(
      /^(?:Plans a journey with trains and hotels\. )+… \[cut: \d+ of 3999 characters\]$/,
    );
  });
});
