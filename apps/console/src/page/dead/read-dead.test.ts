import { describe, expect, it } from 'vitest';
import { readDeadPage, readWholeLetter } from './read-dead.ts';

describe('the dead letters of the page', () => {
  it('[U03] are read, and what is none of them is left out', () => {
    const part = { id: 3, kind: 'refused', text: 'hello', part: null, reason: 'blocked' };
    const message = { from: 'Bo', text: 'hi', at: 5 };
    const turn = { id: 2, kind: 'unanswered', messages: [message], count: 4, steps: 2 };
    const page = readDeadPage({ letters: [part, turn, { id: 1, kind: 'x' }, null], next: 2 });
    expect(page).toMatchObject({ next: 2, counts: { refused: 0 } });
    expect(page.letters).toMatchObject([
      { id: 3, words: [{ from: '', text: 'hello' }], part: 0, isCut: false, file: '' },
      { id: 2, words: [{ from: 'Bo', text: 'hi' }], steps: 2, isCut: true },
    ]);
    for (const odd of [null, 'x', { letters: 'x' }, []])
      expect(readDeadPage(odd)).toMatchObject({ letters: [], next: null });
  });

  it('[U03] are read one by one, too', () => {
    expect(readWholeLetter({ letter: null })).toBeNull();
    const letter = { id: 3, kind: 'uncertain', text: 'long…' };
    expect(readWholeLetter({ letter })).toMatchObject({ id: 3, isCut: true });
  });
});
