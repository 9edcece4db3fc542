import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { estimateTokens } from '../text.ts';
import { type CatalogueEntry, catalogueOf, entryText, largest } from './catalogue.ts';

const LIMITS = { skills: 150, characters: 30_000 };
const entry = (n: number, description = `When number ${n} is wanted.`): CatalogueEntry => ({
  name: `skill-${n}`,
  description,
  location: `~/.agents/skills/skill-${n}/SKILL.md`,
});
const many = (count: number, description?: string) =>
  Array.from({ length: count }, (_, n) => entry(n, description));

describe('the catalogue', () => {
  it('[S04] is one element with name, description and location of each skill', () => {
    expect(catalogueOf(many(1), LIMITS).text).toBe(
      [
        '<available_skills>',
        '<skill><name>skill-0</name><description>When number 0 is wanted.</description><location>~/.agents/skills/skill-0/SKILL.md</location></skill>',
        '</available_skills>',
      ].join('\n'),
    );
  });

  it('[S04] is empty without skills', () => {
    expect(catalogueOf([], LIMITS)).toEqual({ text: '', entries: [], left: 0 });
  });

  it('[S04] cannot be left by what an author wrote', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (description, location) => {
        const { text } = catalogueOf([{ name: 'a', description, location }], LIMITS);
        const tags = text.match(/<[^>]*>/g) ?? [];
        expect(tags).toHaveLength(10);
        expect(
          text.replaceAll(/<\/?(available_skills|skill|name|description|location)>/g, ''),
        ).not.toMatch(/[<>]/);
      }),
    );
  });

  it('[S05] has 150 skills at most and counts the rest', () => {
    const { entries, left } = catalogueOf(many(1_000, 'x'), LIMITS);
    expect([entries.length, left]).toEqual([150, 850]);
  });

  it('[S05] has the largest number of skills that fits, whatever the limit', () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 300 }), { maxLength: 40 });
    fc.assert(
      fc.property(sizes, fc.nat(12_000), (lengths, characters) => {
        const entries = lengths.map((length, n) => entry(n, 'x'.repeat(length)));
        const { text, entries: shown, left } = catalogueOf(entries, { skills: 150, characters });
        expect(text.length).toBeLessThanOrEqual(characters);
        expect(shown.length + left).toBe(entries.length);
        if (left === 0) return;
        const more = catalogueOf(entries.slice(0, shown.length + 1), LIMITS);
        expect(more.text.length).toBeGreaterThan(characters);
      }),
    );
  });

  it('[S05] finds the number in a few steps', () => {
    let asked = 0;
    const found = largest(1_000, (count) => {
      asked += 1;
      return count <= 617;
    });
    expect(found).toBe(617);
    expect(asked).toBeLessThanOrEqual(10);
  });
});

describe('the cost of a skill', () => {
  it.each([
    ['English', 'Plans a journey with trains and hotels. '.repeat(100)],
    ['Chinese', '安排旅行和酒店。'.repeat(200)],
    ['what must be escaped', '"<a>&<b>" '.repeat(200)],
  ])('[S10] is about 100 tokens however long its description in %s is', (_case, description) => {
    expect(estimateTokens(entryText(entry(1, description)))).toBeLessThanOrEqual(100);
  });

  it('[S10] of 20 is below 2,000 tokens, with room for the rules above them', () => {
    const { text, left } = catalogueOf(many(20, 'Plans a journey. '.repeat(80)), LIMITS);
    expect(left).toBe(0);
    expect(estimateTokens(text)).toBeLessThanOrEqual(1_850);
  });

  it('[P10] [S10] says that a description was cut and how long it is', () => {
    expect(entryText(entry(1, 'word '.repeat(200)))).toMatch(
      /word … \[cut: \d+ of 1000 characters\]</,
    );
  });

  it('[S10] leaves a description that fits as it is', () => {
    expect(entryText(entry(1, 'Plans a journey.'))).toContain('<description>Plans a journey.<');
  });
});
