import { toLiteralMarkdown } from '@parley/core';
import { describe, expect, it } from 'vitest';
import { render } from '../render.ts';
import { measureTextWidth } from './tables.ts';

/** Whitespace that Markdown itself would drop. */
const TAB = toLiteralMarkdown('\t');

const show = (dialect: 'telegram' | 'html') => (markdown: string) =>
  render(markdown, { dialect, maxLength: 4096, unit: 'utf16' })
    .map(({ text }) => text)
    .join('');
const telegram = show('telegram');
const lines = (...all: string[]) => all.join('\n');
const columns = (names: string) => {
  const cells = names.split(' ');
  return `|${cells.join('|')}|\n|${cells.map(() => '-').join('|')}|\n`;
};

const grids: [what: string, markdown: string, shown: string][] = [
  [
    'twelve columns',
    `${columns('1 2 3 4 5 6 7 8 9 10 11 12')}|a|b|c|d|e|f|g|h|i|j|k|l|`,
    lines(
      '1  2  3  4  5  6  7  8  9  10  11  12',
      '─  ─  ─  ─  ─  ─  ─  ─  ─  ──  ──  ──',
      'a  b  c  d  e  f  g  h  i  j   k   l',
    ),
  ],
  [
    'short, long and empty rows',
    `${columns('A B')}|1|\n|||\n|1|2|3|`,
    lines('A  B', '─  ─  ─', '1', '1  2  3'),
  ],
  [
    'escaped pipes and marks',
    `${columns('A B')}|\`x\\|y\`|**b**|`,
    lines('A    B', '───  ─', 'x|y  b'),
  ],
  [
    'emoji and CJK',
    `${columns('😀 漢字 é')}|👨‍👩‍👧|水|x|`,
    lines('😀  漢字  é', '──  ────  ─', '👨‍👩‍👧  水    x'),
  ],
  [
    'cells of several lines',
    `${columns('A B')}|a<br>bc|1|\n|d|2|`,
    lines('A   B', '──  ─', 'a   1', 'bc', 'd   2'),
  ],
  ['a header of several lines', `${columns('A<br>x B')}|1|2|`, lines('A  B', 'x', '─  ─', '1  2')],
  ['no names at all', '| | |\n|-|-|\n|a|b|', 'a  b'],
  ['no rows', columns('A B'), lines('A  B', '─  ─')],
  ['tabs', `${columns('A B')}|a${TAB}b|1|`, lines('A    B', '───  ─', 'a b  1')],
  [
    'text from right to left, without mixing up the columns',
    `${columns('שם B')}|א|1|`,
    lines('\u2068שם\u2069  B', '──  ─', '\u2068א\u2069   1'),
  ],
];

const wide = 'B'.repeat(40);
const lists: [what: string, markdown: string, shown: string][] = [
  ['column names', `${columns(`A ${wide}`)}|1|2|`, lines('• <b>A</b>: 1', `  <b>${wide}</b>: 2`)],
  [
    'names twice or not at all',
    `| A | A | |\n|-|-|-|\n|1|2|${wide}|`,
    lines('• <b>A</b>: 1', '  <b>A</b>: 2', `  ${wide}`),
  ],
  [
    'names that end with a sign',
    `${columns(`A: B? ${wide}`)}|1|2|3|`,
    lines('• <b>A:</b> 1', '  <b>B?</b> 2', `  <b>${wide}</b>: 3`),
  ],
  [
    'links, also in names',
    `${columns('[A](https://e.org) B')}|1|2|`,
    lines('• <b><a href="https://e.org">A</a></b>: 1', '  <b>B</b>: 2'),
  ],
  [
    'code in names',
    `${columns(`\`A\` ${wide}`)}|1|2|`,
    lines('• <code>A</code>: 1', `  <b>${wide}</b>: 2`),
  ],
  ['what is struck', `${columns('A')}|~~1~~|`, '• <b>A</b>: <s>1</s>'],
  [
    'rows without anything left out',
    `${columns(`A ${wide}`)}|1||\n|||\n||2|`,
    lines('• <b>A</b>: 1', `• <b>${wide}</b>: 2`),
  ],
  [
    'names with nothing to see',
    `${columns(`A \u200b ${wide}`)}|1|2|3|`,
    lines('• <b>A</b>: 1', '  2', `  <b>${wide}</b>: 3`),
  ],
  [
    'columns without any content, named once',
    `${columns(`A ${wide} C`)}|1|||\n|2|||`,
    lines('• <b>A</b>: 1', `  <b>${wide}</b>:`, '  <b>C</b>:', '', '• <b>A</b>: 2'),
  ],
  [
    'line breaks in cells',
    `${columns(`A ${wide}`)}|1<br>2|3|`,
    lines('• <b>A</b>: 1', '  2', `  <b>${wide}</b>: 3`),
  ],
  [
    'an empty line between rows of more than two lines',
    `${columns(`A B ${wide}`)}|1|2|3|\n|4|5|6|`,
    lines(
      '• <b>A</b>: 1',
      '  <b>B</b>: 2',
      `  <b>${wide}</b>: 3`,
      '',
      '• <b>A</b>: 4',
      '  <b>B</b>: 5',
      `  <b>${wide}</b>: 6`,
    ),
  ],
  [
    'many short cells side by side, a name never parted from its value',
    `${columns(`Aa Bb? Cc Dd Ee Ff Gg Hh Ii Jj Kk`)}|1|2|3|4|5|6|7|8|9|10|11|\n||1||||||||||`,
    lines(
      '• <b>Aa</b>:_1 <b>Bb?</b>_2 <b>Cc</b>:_3 <b>Dd</b>:_4 <b>Ee</b>:_5 <b>Ff</b>:_6 <b>Gg</b>:_7 <b>Hh</b>:_8 <b>Ii</b>:_9 <b>Jj</b>:_10 <b>Kk</b>:_11'
        .replaceAll(' <', '\u2003<')
        .replace('•\u2003', '• ')
        .replaceAll('_', '\u00a0'),
      '• <b>Bb?</b>\u00a01',
    ),
  ],
  [
    'cells that are not all short below each other',
    `${columns('Aa Bb Cc Dd Ee')}|1|2|3|4|5|\n|a much longer cell|b|c|d|a much longer cell|`,
    lines(
      '• <b>Aa</b>: 1',
      ...['Bb</b>: 2', 'Cc</b>: 3', 'Dd</b>: 4', 'Ee</b>: 5'].map((cell) => `  <b>${cell}`),
      '',
      '• <b>Aa</b>: a much longer cell',
      ...['Bb</b>: b', 'Cc</b>: c', 'Dd</b>: d', 'Ee</b>: a much longer cell'].map(
        (cell) => `  <b>${cell}`,
      ),
    ),
  ],
  ['names alone', columns(`A ${wide}`), `<b>A</b> · <b>${wide}</b>`],
];

describe('tables', () => {
  it.each(grids)('[M01] are grids with %s', (_, markdown, shown) => {
    expect(telegram(markdown)).toBe(`<pre>${shown}</pre>`);
  });

  it.each(lists)(
    '[M01] are lists when they are too wide or a grid would lose content: %s',
    (_, markdown, shown) => {
      expect(telegram(markdown)).toBe(shown);
    },
  );

  it('[M01] are omitted when they have no content', () => {
    expect(telegram('| | |\n|-|-|\n|||')).toBe('');
  });

  it('[M01] keep line breaks and underlines on platforms with tables', () => {
    expect(show('html')(`${columns('A')}|<u>1</u><br>2|`)).toContain('<td><u>1</u><br>2</td>');
  });
});

it.each([
  ['abc', 3],
  ['é', 1],
  ['naïve Straße', 12],
  ['a\u00adb\u0085', 2],
  ['e\u0301', 1],
  ['水', 2],
  ['ｱ', 1],
  ['Ａ', 2],
  ['한국', 4],
  ['👍🏽', 2],
  ['👩‍👩‍👧', 2],
  ['🇫🇷', 2],
  ['❤️', 2],
  ['\u200b', 0],
  ['שלום', 4],
])('counts the columns of a fixed-width font: %j', (text, columns) => {
  expect(measureTextWidth(text)).toBe(columns);
});
