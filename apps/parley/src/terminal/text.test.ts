import { describe, expect, it } from 'vitest';
import { formatTable, splitRows, stripControlCharacters, wrapWords } from './text.ts';

describe('text from other people in the terminal', () => {
  it.each([
    ['clears the screen', 'a\u001b[2Jb', 'ab'],
    ['renames the window', 'a\u001b]0;owned\u0007b', 'ab'],
    ['sends input as if typed', 'a\u001b[6nb', 'ab'],
    ['overwrites earlier output', 'good\rbad\b!', 'good\nbad!'],
    ['rings', 'a\u0007b', 'ab'],
    ['uses eight-bit control characters', 'a\u009b2Jb', 'ab'],
    ['changes the writing direction', 'Pay \u202e001\u202c now', 'Pay 001 now'],
    ['has Windows line ends and tabs', 'a\r\n\tb', 'a\n    b'],
  ])('[U03] cannot control the terminal: %s', (_what, text, shown) => {
    expect(stripControlCharacters(text)).toBe(shown);
  });

  it("[U03] stays inside its table cell, even if a person's name contains control characters", () => {
    const rows = [
      ['Bo\u202e\n', 'owner'],
      ['\u2067Ann', 'guest'],
      ['עדה', 'guest'],
    ];
    expect(formatTable(rows)).toBe('Bo   owner\nAnn  guest\nעדה  guest');
  });

  it.each([
    ['abcdef', 4, ['abcd', 'ef']],
    ['abcd', 4, ['abcd']],
    ['a\n\nb', 4, ['a', '', 'b']],
    ['日本語', 4, ['日本', '語']],
    ['👋👋👋', 4, ['👋👋', '👋']],
    ['ééé'.normalize('NFD'), 4, ['ééé'.normalize('NFD')]],
  ])('splits %j into rows of %i columns the way a terminal would', (text, columns, rows) => {
    expect(splitRows(text, columns)).toEqual(rows);
  });

  it('breaks between words, and keeps a long URL whole so that it can be copied', () => {
    expect(wrapWords('one two three', 8)).toBe('one two\nthree');
    expect(wrapWords('see https://example.com/long/path ok', 10)).toBe(
      'see\nhttps://example.com/long/path\nok',
    );
    expect(wrapWords('  indented stays', 40)).toBe('  indented stays');
  });
});
