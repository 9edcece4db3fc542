import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PROFILE_CHARACTERS, profileOf } from './memories.ts';
import type { MemoryEntry } from './memory-file.ts';

const entry = (text: string, change: Partial<MemoryEntry> = {}): MemoryEntry => ({
  id: `m${text}`,
  type: 'fact',
  scope: 'user',
  text,
  person: 't:1',
  date: null,
  from: null,
  words: 'own',
  automatic: false,
  ...change,
});
const NEVER_USED = new Map<string, number>();

describe('a profile', () => {
  it('[G14] is never longer than it may be, holds whole memories, and is the same for the same', () => {
    const Entry = fc
      .record({
        text: fc.string({ minLength: 1, maxLength: 500, unit: 'grapheme' }),
        type: fc.constantFrom('preference', 'fact', 'skill', 'habit', 'constraint'),
      })
      .map(({ text, type }) => entry(text.replace(/\s+/g, ' '), { type }));
    fc.assert(
      fc.property(fc.array(Entry, { maxLength: 60 }), (entries) => {
        const profile = profileOf(entries, NEVER_USED);
        expect(profileOf(entries, NEVER_USED)).toBe(profile);
        if (profile === null) return;
        expect(profile.length).toBeLessThanOrEqual(PROFILE_CHARACTERS);
        expect(entries.some(({ text }) => profile.includes(text))).toBe(true);
      }),
    );
  });

  it('[G14] says nothing where nothing is known', () => {
    expect(profileOf([], NEVER_USED)).toBe(null);
  });

  it('[G14] one very long memory leaves room for the others', () => {
    const long = entry('x'.repeat(700));
    expect(profileOf([entry('likes tea'), long], NEVER_USED)).toBe('Facts: likes tea');
  });

  it('[G14] puts rules first, and what was of use before what is newer', () => {
    const many = Array.from({ length: 60 }, (_, nth) => entry(`something about number ${nth}`));
    const rule = entry('never call before nine', { type: 'constraint' });
    const used = new Map([['msomething about number 0', 15]]);
    const all = [rule, ...many];
    expect(profileOf(all, NEVER_USED)).toMatch(
      /^Rules: never call before nine\nFacts: .*number 59/,
    );
    const few = [...many.slice(0, 25)];
    expect(profileOf(few, NEVER_USED)).not.toMatch(/number 0(?: |$)/);
    expect(profileOf(few, used)).toMatch(/number 0(?: |$)/);
  });

  it('[G13] says what the agent put down itself', () => {
    const note = entry('uses SQLite', { words: 'agent' });
    expect(profileOf([note], NEVER_USED)).toBe('Facts: uses SQLite (my own note)');
  });
});
