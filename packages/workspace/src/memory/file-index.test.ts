import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { IndexedFiles } from './file-index.ts';
import { BestFew, TermList } from './inverted-index.ts';
import { queryWords } from './search-words.ts';

const Word = fc.constantFrom('heron', 'egret', 'plover', '绿茶', '生日', 'Bäder', 'Garten', 'tea');
const Lines = fc.array(fc.array(Word, { minLength: 1, maxLength: 4 }), { maxLength: 8 });

describe('files and the words in them', () => {
  it('[G14] [W07] are found after any changes just as if they had been read anew', () => {
    const Step = fc.record({
      name: fc.constantFrom('memory/user.md', 'memory/a.md'),
      lines: Lines,
    });
    fc.assert(
      fc.property(fc.array(Step, { minLength: 1, maxLength: 8 }), Word, (steps, question) => {
        const files = new IndexedFiles(1_000);
        const last = new Map<string, string>();
        for (const [nth, { name, lines }] of steps.entries()) {
          const text = lines.map((words) => `- ${words.join(' ')}`).join('\n');
          files.put(name, `${nth}`, text);
          last.set(name, text);
        }
        const fresh = new IndexedFiles(1_000);
        for (const [name, text] of last) fresh.put(name, '', text);
        const found = (of: typeof files) =>
          of
            .search(queryWords(question), 100)
            .map(({ name, nth }) => `${name} ${nth}`)
            .sort();
        expect(found(files)).toEqual(found(fresh));
      }),
    );
  });

  it('[G14] a saving leaves nothing behind for what stays, so nothing is built anew', () => {
    const files = new IndexedFiles(10_000);
    let text = Array.from({ length: 1_500 }, (_, nth) => `- note ${nth}`).join('\n');
    for (let saving = 0; saving < 20; saving += 1) {
      text = `${text}\n- more ${saving}`;
      files.put('memory/user.md', `${saving}`, text);
    }
    expect(files.isWasteful()).toBe(false);
    files.put('memory/user.md', 'last', '- only this');
    expect(files.isWasteful()).toBe(true);
  });

  it('are found up to the number that is kept', () => {
    const files = new IndexedFiles(2);
    files.put('memory/user.md', '1', '- heron one\n- heron two\n- heron three');
    expect(files.search(queryWords('heron'), 9)).toHaveLength(2);
  });
});

describe('the best of many', () => {
  it('[G14] are the same as those of a whole sorting, the newer first where two fit alike', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(9)), fc.integer({ min: 1, max: 6 }), (scores, most) => {
        const best = new BestFew(most);
        for (const [document, score] of scores.entries()) best.add(document, score);
        const all = scores.map((score, document) => ({ document, score }));
        const sorted = all.sort((a, b) => b.score - a.score || b.document - a.document);
        expect(best.all()).toEqual(sorted.slice(0, most));
      }),
    );
  });
});

describe('words in order', () => {
  it('[G14] longer ones are found before and after they are merged', () => {
    const terms = new TermList();
    const all = Array.from({ length: 700 }, (_, nth) => `${nth % 7 === 0 ? 'tea' : 'x'}${nth}`);
    for (const [nth, term] of all.entries()) {
      terms.add(term);
      if (nth % 50 !== 0) continue;
      const known = all.slice(0, nth + 1).filter((one) => one.startsWith('tea'));
      expect(terms.longerThan('tea', 1_000).toSorted()).toEqual(known.toSorted());
    }
    expect(terms.longerThan('tea', 3)).toHaveLength(3);
    expect(terms.longerThan('tea0', 3)).toEqual([]);
  });
});
