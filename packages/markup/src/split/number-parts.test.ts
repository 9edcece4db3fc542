import type { RenderTarget } from '@parley/contracts';
import { describe, expect, it } from 'vitest';
import { CAPABILITIES } from '../capabilities.ts';
import { render } from '../render.ts';

const DIALECTS = ['telegram', 'discord', 'whatsapp', 'plain', 'html'] as const;
const numbered = (markdown: string, target: Partial<RenderTarget> = {}) =>
  render(markdown, {
    dialect: 'telegram',
    maxLength: 24,
    unit: 'utf16',
    numbered: true,
    ...target,
  });

describe('numbered parts', () => {
  it('[M03] end with a line that tells which part of how many they are, also as plain text', () => {
    const label = (text: string) => ({ text, plain: text });
    expect(numbered('aaaa bbbb cccc dddd eeee ffff')).toEqual([
      label('aaaa bbbb cccc\n\n(1/2)'),
      label('dddd eeee ffff\n\n(2/2)'),
    ]);
  });

  it('[M03] are not numbered if there is one', () => {
    expect(numbered('aaaa')).toEqual([{ text: 'aaaa', plain: 'aaaa' }]);
  });

  it.each([
    ['**aaaa bbbb cccc dddd eeee ffff**', '<b>aaaa bbbb cccc</b>\n\n(1/2)'],
    ['> aaaa bbbb cccc dddd eeee ffff', '<blockquote>aaaa bbbb cccc</blockquote>\n\n(1/2)'],
    ['```\naaaa\nbbbb\ncccc\ndddd\neeee\nffff\n```', '<pre>aaaa\nbbbb\ncccc</pre>\n\n(1/2)'],
  ])('[M03] have their number outside all marks: %j', (markdown, first) => {
    expect(numbered(markdown)[0]?.text).toBe(first);
  });

  it.each(DIALECTS)('[M03] stay within the limit from 2 to over 1,000 parts: %s', (dialect) => {
    for (const words of [12, 40, 80, 400, 6_000]) {
      const markdown = Array.from({ length: words }, (_, index) => `w${index}w`).join(' ');
      const parts = numbered(markdown, { dialect, maxLength: 40 });
      const texts = parts.map((part) =>
        CAPABILITIES[dialect].counts === 'visible' ? part.plain : part.text,
      );
      const plain = parts.map((part) => part.plain);
      const longest = Math.max(...[...texts, ...plain].map(({ length }) => length));
      expect(parts.length).toBeGreaterThan(1);
      expect(longest).toBeLessThanOrEqual(40);
      expect(plain.map((text) => /\(\d+\/\d+\)$/.exec(text)?.[0])).toEqual(
        plain.map((_, index) => `(${index + 1}/${parts.length})`),
      );
      expect(plain.join(' ').match(/w\d+w/g)).toEqual(markdown.split(' '));
    }
  });

  it('[M03] have no number where it would leave no room for text', () => {
    const parts = numbered('aaaa bbbb cccc dddd eeee', { maxLength: 16 });
    expect(parts.map(({ text }) => text)).toEqual(['aaaa bbbb cccc', 'dddd eeee']);
  });
});
