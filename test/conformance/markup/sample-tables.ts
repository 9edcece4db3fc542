import fc from 'fast-check';
import { HEADER, markUnformatted, WORD } from './sample-words.ts';

const CELLS = [
  WORD,
  WORD,
  `${WORD} ${WORD}`,
  `**${WORD}**`,
  `\`${WORD}\` 中文`,
  `${WORD} \\| ${WORD}`,
  `\`${WORD} \\| x\``,
  `[${WORD}](https://e.org)`,
  `~~${WORD}~~ *${WORD}*`,
  '😀 👩‍👩‍👧',
  '水',
  '',
  '1 < 2 & 3',
  '@everyone',
  '<br>',
  'https://e.org/t',
];
const HEADERS = [HEADER, HEADER, HEADER, `**${HEADER}**`, `${HEADER} 名`, '', `\`${HEADER}\``];
const RULES = ['--', ':-', '-:', ':-:', '---'];

const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;

/** Narrow and wide tables, with short and long rows, marks, escaped pipes and wide characters. */
export const table: fc.Arbitrary<string> = fc
  .tuple(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 0, max: 4 }))
  .chain(([most, rows]) => {
    // Occasionally twelve columns, usually few.
    const columns = most > 6 && most < 12 ? most - 5 : most;
    const cells = (all: readonly string[]) =>
      fc.array(fc.constantFrom(...all), { minLength: columns, maxLength: columns });
    return fc.tuple(
      cells(HEADERS),
      cells(RULES),
      fc.array(cells(CELLS), { minLength: rows, maxLength: rows }),
    );
  })
  .map(([header, rules, rows]) =>
    // A header with a single empty cell is not a table.
    [
      row(header.some(Boolean) ? header : [HEADER, ...header.slice(1)]),
      row(rules),
      ...rows.map(row),
    ].join('\n'),
  )
  .map(markUnformatted);
