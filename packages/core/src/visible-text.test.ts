import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeLiteralText, formatInlineCode, toLiteralLine } from './literal.ts';
import { toRunOptions } from './testing/test-length.ts';
import {
  escapeHiddenCharacters,
  replaceHiddenCharacters,
  toDisplayLine,
  toDisplayText,
} from './visible-text.ts';

/** Text that people write and that must not be changed. */
const WRITTEN: readonly (readonly [what: string, text: string])[] = [
  ['joined emoji', '👩‍🚀 👨‍👩‍👧‍👦 👩🏽‍💻 ❤️‍🔥 🏳️‍🌈'],
  ['a flag of tags', '🏴󠁧󠁢󠁥󠁮󠁧󠁿 🏴󠁧󠁢󠁳󠁣󠁴󠁿'],
  ['Persian with a non-joiner', 'می‌خواهم'],
  ['Hindi with a joiner', 'क्‍ष क्‌ष'],
  ['Arabic with its signs', 'بِسْمِ ٱللَّٰهِ، ٣٫١٤ ؀١٢'],
  ['Hebrew with points', 'שָׁלוֹם 123 (עולם)'],
  ['marks on letters', 'e\u0301 Zürich Việt'],
  ['keys and styles', '1️⃣ ☎︎ ☎️'],
];

describe('third-party text shown to people', () => {
  it.each(WRITTEN)('[G05] [U03] keeps %s', (_what, text) => {
    expect(toDisplayText(text)).toBe(text);
    expect(toDisplayLine(text)).toBe(text);
    expect(escapeHiddenCharacters(text)).toBe(text);
  });

  it.each([
    ['an override', 'Pay \u202e001\u202c now', 'Pay 001 now'],
    ['an override without an end', 'invoice\u202efdp.exe', 'invoicefdp.exe'],
    ['an isolate without an end', 'a \u2067b', 'a b'],
    ['an end without a beginning', 'a \u2069\u202cb', 'a b'],
    ['an embedding that an isolate cuts off', '\u2067\u202ba\u2069b\u202c', '\u2067a\u2069b'],
    ['an isolate that ends in another line', '\u2067a\nb\u2069', 'a\nb'],
    ['a command to a terminal', 'a\u001b[31mb\u009b2Jc\u0007', 'abc'],
    ['other line ends', 'a\r\u2028b\u0085c', 'a\n\nb\nc'],
    ['text in invisible tags', 'hi\u{e0041}\u{e0042}', 'hi'],
  ])('[U03] removes %s', (_what, text, shown) => {
    expect(toDisplayText(text)).toBe(shown);
  });

  it('[U03] keeps direction changes that end within their line', () => {
    for (const text of ['א \u2066+49 170\u2069 ב', '\u202b(עולם)\u202c', '\u200fשלום\u200e']) {
      expect(toDisplayText(text)).toBe(text);
    }
  });

  it('[U03] removes hidden characters that make a name look like another name', () => {
    expect(toDisplayLine('ad\u200dmin\u202e\u200b\u2060\ufeff\u00ad')).toBe('admin');
    expect(toDisplayLine('two\nlines\tand\r\nmore')).toBe('two lines and more');
    expect(decodeLiteralText(toLiteralLine(' Bo\u202e \n\u2067*x* '))).toBe('Bo *x*');
    expect(formatInlineCode('a`\u202eb\nc')).toBe('``a`b c``');
    expect(replaceHiddenCharacters('a\u202eb\tc')).toBe('a b c');
  });

  const SIGNS = [...'ab אש👩🏴\n\t\u001b[m', '\u200d', '\u200c', '\u{e0067}', '\u{e007f}'];
  const hostile = fc.string({
    unit: fc.constantFrom(
      ...SIGNS,
      ...'\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u0000\u009b\u2028\u0085\ufeff',
    ),
    maxLength: 40,
  });

  it('[U03] is neutralized: nothing in it reverses text or acts as a command, and a second pass changes nothing', () => {
    fc.assert(
      fc.property(fc.oneof(hostile, fc.string({ unit: 'binary' })), (text) => {
        const [shown, line] = [toDisplayText(text), toDisplayLine(text)];
        expect(shown).not.toMatch(/(?![\t\n])\p{Cc}|[\u202d\u202e\u2028]/u);
        expect(line).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069\u200e\u200f]/u);
        expect(toDisplayLine(line)).toBe(line);
        for (const one of shown.split('\n')) expect(depthAfter(one)).toBe(0);
      }),
      toRunOptions(2_000),
    );
  });

  it('[D07] is processed in one pass for any number of open direction changes', () => {
    const text = `${'\u202a'.repeat(200_000)}${'\u2069'.repeat(200_000)}${'\u{e0061}'.repeat(200_000)}`;
    expect(toDisplayText(text)).toBe('');
  });

  it('[G05] is escaped for logs and JSON without loss', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const json = escapeHiddenCharacters(JSON.stringify({ text }));
        expect(JSON.parse(json)).toEqual({ text });
        expect(json).not.toMatch(/[\p{Cc}\u2028\u202a-\u202e\u2066-\u2069]/u);
      }),
    );
  });
});

/**
 * Counts the direction changes that are still open at the end of a line; an end without a beginning
 * counts as open.
 */
function depthAfter(line: string): number {
  const open: string[] = [];
  for (const sign of line) {
    if ('\u202a\u202b\u202d\u202e\u2066\u2067\u2068'.includes(sign)) open.push(sign);
    if (sign === '\u202c' && !'\u202a\u202b'.includes(open.pop() ?? '?')) return 1;
    if (sign === '\u2069' && !'\u2066\u2067\u2068'.includes(open.pop() ?? '?')) return 1;
  }
  return open.length;
}
