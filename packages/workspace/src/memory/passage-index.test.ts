import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PassageIndex } from './passage-index.ts';
import { queryWords } from './search-words.ts';

const Word = fc.constantFrom('heron', 'egret', 'plover', '绿茶', '生日', 'Bäder', 'Garten', 'tea');
const Lines = fc.array(fc.array(Word, { minLength: 1, maxLength: 4 }), { maxLength: 8 });

function list(texts: readonly string[]): string {
  return texts.map((text) => `- ${text}`).join('\n');
}

function find(index: PassageIndex, question: string, most = 1_000) {
  return index.search(queryWords(question), most);
}

describe('files and the text in them', () => {
  it('[G14] [W07] are found after any changes just as if they had been read again', () => {
    const Step = fc.record({
      name: fc.constantFrom('memory/user.md', 'memory/a.md'),
      lines: Lines,
    });
    fc.assert(
      fc.property(fc.array(Step, { minLength: 1, maxLength: 8 }), Word, (steps, question) => {
        const index = new PassageIndex(1_000);
        const last = new Map<string, string>();
        for (const { name, lines } of steps) {
          const text = list(lines.map((words) => words.join(' ')));
          index.put(name, text);
          last.set(name, text);
        }
        const fresh = new PassageIndex(1_000);
        for (const [name, text] of last) fresh.put(name, text);
        const found = (of: PassageIndex) =>
          find(of, question)
            .map(({ piece: { file, raw }, score }) => `${file.name} ${raw} ${score.toFixed(9)}`)
            .sort();
        expect(found(index)).toEqual(found(fresh));
        expect(index.size).toBe(fresh.size);
      }),
    );
  });

  it('[G14] a saving leaves what stays as it was, and nothing of what goes', () => {
    const index = new PassageIndex(10_000);
    const notes = Array.from({ length: 1_500 }, (_, nth) => `note ${nth}`);
    index.put('memory/user.md', list(notes));
    const [before] = find(index, 'note 7', 1);
    for (let saving = 0; saving < 20; saving += 1) {
      notes.push(`more ${saving}`);
      index.put('memory/user.md', list(notes));
    }
    expect(find(index, 'note 7', 1)[0]?.piece).toBe(before?.piece);
    expect(index.size).toBe(1_520);
    index.put('memory/user.md', '- only this');
    expect(index.size).toBe(1);
    expect(find(index, 'note more')).toEqual([]);
  });

  it('are found up to the number that is kept', () => {
    const index = new PassageIndex(2);
    index.put('memory/user.md', '- heron one\n- heron two\n- heron three');
    expect(find(index, 'heron')).toHaveLength(2);
  });

  it('[G14] the newer is found first where two fit alike, however few are wanted', () => {
    const index = new PassageIndex(1_000);
    index.put('memory/user.md', list(Array.from({ length: 100 }, (_, nth) => `heron a${nth}`)));
    const all = find(index, 'heron').map(({ piece }) => piece.raw);
    expect(all).toEqual(Array.from({ length: 100 }, (_, nth) => `- heron a${99 - nth}`));
    for (const most of [1, 3, 6]) {
      expect(find(index, 'heron', most).map(({ piece }) => piece.raw)).toEqual(all.slice(0, most));
    }
  });

  it('[G14] longer words are found by how they begin, in whatever order they were added', () => {
    const index = new PassageIndex(1_000);
    const words: string[] = [];
    for (let nth = 0; nth < 700; nth += 1) {
      words.push(`${nth % 20 === 0 ? 'tea' : 'x'}${(nth * 7919) % 1_000}`);
      if (nth % 50 !== 0) continue;
      index.put('memory/user.md', list(words));
      const longer = words.filter((word) => word.startsWith('tea')).map((word) => `- ${word}`);
      expect(
        find(index, 'tea')
          .map(({ piece }) => piece.raw)
          .sort(),
      ).toEqual(longer.sort());
    }
  });
});
