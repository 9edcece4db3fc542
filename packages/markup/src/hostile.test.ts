import { describe, expect, it } from 'vitest';
import { render } from './render.ts';
import { renderPrefix } from './render-prefix.ts';

const TELEGRAM = { dialect: 'telegram', maxLength: 4096, unit: 'utf16' } as const;
const SIZE = 80_000;
const fill = (text: string) => text.repeat(Math.ceil(SIZE / text.length)).slice(0, SIZE);

const hostile: [what: string, markdown: string][] = [
  ['emphasis that never closes', fill('a**b')],
  ['mixed emphasis', fill('*a_ ')],
  ['emphasis in many small blocks', fill(`${'*a*b'.repeat(240)}\n\n`)],
  ['opening brackets', fill('[')],
  ['closing brackets', fill('a]')],
  ['half links', fill('[a](')],
  ['500 lists in one line', `${'- '.repeat(500)}x`],
  ['500 nested lists', Array.from({ length: 500 }, (_, i) => `${'  '.repeat(i)}- x`).join('\n')],
  ['500 nested quotes', `${'> '.repeat(500)}x`],
  ['lazy lines under deep quotes', '> '.repeat(20) + fill('a\n')],
  ['underlined headings', fill('a\n=\n')],
  ['list items', fill('- x\n')],
  ['table columns', `${fill('|a').slice(0, SIZE / 2)}\n${fill('|-').slice(0, SIZE / 2)}`],
  ['an address of references', `http://a.b/${fill('&a;')}`],
  ['backticks of all lengths', Array.from({ length: 400 }, (_, i) => `e${'`'.repeat(i)}`).join('')],
  ['combining marks on one letter', `a${fill('\u0301')}`],
  ['one endless line of code', `\`\`\`\n${fill('a b ')}`],
];

describe('hostile input', () => {
  it.each(hostile)('[M06] arrives: %s', (_, markdown) => {
    const letters = (text: string) => text.replaceAll(/[^\p{L}\p{M}]/gu, '');
    const parts = render(markdown, TELEGRAM);
    expect(letters(parts.map(({ plain }) => plain).join(''))).toBe(letters(markdown));
    expect(parts.every(({ plain }) => plain.length <= TELEGRAM.maxLength)).toBe(true);
  });

  it.each(hostile)('[M06] renders unfinished: %s', (_, markdown) => {
    expect(renderPrefix(markdown, TELEGRAM)).not.toBe('');
  });
});
