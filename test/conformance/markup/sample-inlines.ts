import fc from 'fast-check';
import { markFormat, WORD } from './sample-words.ts';

type TextArbitrary = fc.Arbitrary<string>;

/** Characters among words that look like syntax but are not. */
const SPICE = [
  ' &amp;',
  ' 1 < 2',
  ' "q"',
  ' a_b_c',
  ' 2*3',
  ' 5 * 6 * 7',
  ' 👩‍👩‍👧',
  ' ❤️ 🇩🇪 1️⃣',
  ' 中文。',
  ' é',
  ' שלום (עולם)',
  ' مرحبا\u200f!',
  ' a\u200bb',
  ' x\u00a0y',
  ' \\*no\\* \\_no\\_',
  ' \\# \\> \\- \\`',
  ' 1\\. C:\\dir\\file',
  ' ~20 ~ 30%',
  ' a | b',
  ' a || b || c',
  ' @everyone',
  ' @here,',
  ' @some_name:',
  ' <@1> <@!23> <@&4>',
  ' <#5> <t:1700000000:R> <:smile:6>',
  ' a@e.org',
  ' $5 and $10',
  ' <b>',
  ' <div class="x">',
  ' </p>',
  ' <!-- no -->',
  ' Map<string, T>',
  ' -> => :-)',
  ' ...',
];

const phrase: TextArbitrary = fc
  .tuple(
    fc.integer({ min: 1, max: 4 }),
    fc.option(fc.constantFrom(...SPICE), { nil: '', freq: 1 }),
    fc.boolean(),
  )
  .map(
    ([count, extra, dot]) =>
      `${Array<string>(count).fill(WORD).join(' ')}${extra}${dot ? '' : ` ${WORD}`}`,
  );

const words: TextArbitrary = fc
  .integer({ min: 1, max: 3 })
  .map((count) => Array<string>(count).fill(WORD).join(' '));

const bold = (text: string) => `**${markFormat(text, 'bold')}**`;
const italic = (text: string) => `*${markFormat(text, 'italic')}*`;
const strike = (text: string) => `~~${markFormat(text, 'strike')}~~`;
const spoiler = (text: string) => `||${markFormat(text, 'spoiler')}||`;
const underline = (text: string) => `<u>${markFormat(text, 'underline')}</u>`;
const code = (text: string) => `\`${markFormat(text, 'code')}\``;
const link = (text: string, url: string) => {
  const isLinked = /^<?https?:\/\/e\.org/.test(url);
  return `[${isLinked ? markFormat(text, 'link') : text}](${url})`;
};

const marked: TextArbitrary = fc
  .tuple(
    words,
    fc.constantFrom<(text: string) => string>(
      bold,
      bold,
      italic,
      strike,
      spoiler,
      underline,
      (text) => `__${markFormat(text, 'bold')}__`,
      (text) => `_${markFormat(text, 'italic')}_`,
      (text) => `***${markFormat(markFormat(text, 'bold'), 'italic')}***`,
      (text) => bold(`${WORD} ${italic(text)} ${WORD}`),
      (text) => italic(`${WORD} ${bold(text)}`),
      (text) => strike(`${bold(text)} ${WORD}`),
      (text) => bold(`${WORD} ${code(WORD)} ${text}`),
      (text) => bold(link(text, 'https://e.org/b')),
      (text) => `${WORD}${bold(markFormat(text, 'hard'))}${WORD}`,
      (text) => `${bold(`${markFormat(text, 'hard')}:`)}${WORD}`,
      (text) => `${bold(`「${markFormat(text, 'hard')}」`)}${WORD}中文`,
      (text) => `(${bold(text)}), "${italic(text)}"`,
      (text) => `<ins>${markFormat(text, 'underline')}</ins>`,
    ),
  )
  .map(([text, mark]) => mark(text));

const codeSpan: TextArbitrary = fc.constantFrom(
  code(WORD),
  `\`\`${markFormat(markFormat(`${WORD} \` ${WORD}`, 'code'), 'hard')}\`\``,
  `\`\`\` ${markFormat(markFormat(`\`\`${WORD}`, 'code'), 'hard')} \`\`\``,
  bold(code(WORD)),
  code(`${WORD} **x** <b> &amp; \\ |`),
  code(`${WORD}(@everyone, <@1>)`),
);

const URLS = [
  'https://e.org',
  'https://e.org/p?a=1&b=2',
  'https://e.org/a_b_(c)_d',
  'http://e.org/%20x#y',
  '<https://e.org/a b>',
  'https://e.org "Title"',
  'src/x.ts',
  '#part',
  'javascript:alert(1)',
  'mailto:a@e.org',
  'http://localhost:3000/',
  'tg://user?id=1',
];

const reference: TextArbitrary = fc.oneof(
  fc.tuple(words, fc.constantFrom(...URLS)).map(([text, url]) => link(text, url)),
  fc.constantFrom(
    link(`${bold(WORD)} ${code(WORD)}`, 'https://e.org'),
    link(`${WORD} ${italic(WORD)}`, 'x.md'),
    `[${markFormat(WORD, 'link')}][r1] [${WORD}][r2]`,
    'https://e.org/bare_path_x?q=(a)',
    '<https://e.org/auto>',
    'www.e.org',
    `![${WORD}](https://e.org/i.png)`,
    '![](https://e.org/j.png)',
    `[![${WORD}](https://e.org/k.png)](https://e.org/l)`,
    `${WORD}[^1] ${WORD}[^note]`,
  ),
);

const maths: TextArbitrary = fc.constantFrom(
  `$a_1 * b_1 = c$ ${WORD}`,
  `\\(x_1 + y_1\\) ${WORD}`,
  `$5 and ${bold('$10')} ${WORD}`,
  `$\\frac{a}{b}$`,
  `$*x*$ ${WORD}`,
);

const span: TextArbitrary = fc.oneof(
  { weight: 6, arbitrary: phrase },
  { weight: 5, arbitrary: marked },
  { weight: 2, arbitrary: codeSpan },
  { weight: 2, arbitrary: reference },
  { weight: 1, arbitrary: maths },
);

/** One line of inline content. */
export const line: TextArbitrary = fc
  .array(span, { minLength: 1, maxLength: 3 })
  .map((spans) => spans.join(' '));

/** Several lines with the line breaks that models use. */
export const paragraph: TextArbitrary = fc
  .tuple(
    fc.array(line, { minLength: 1, maxLength: 3 }),
    fc.constantFrom('\n', '\n', '  \n', '\\\n', '<br>', '<br/>\n'),
  )
  .map(([lines, end]) => lines.join(end));

/** Definitions of every reference that lines may contain. */
export const DEFINITIONS = [
  '[r1]: https://e.org/r1',
  '[r2]: <r two.md> "Title"',
  '[unused]: https://e.org/unused',
].join('\n');

/** Footnotes for every reference that lines may contain. */
export const FOOTNOTES = `[^1]: ${WORD} ${bold(WORD)}\n\n[^note]: ${WORD}\n\n    ${WORD} ${WORD}`;
