import fc from 'fast-check';

/** A generated document and the words that must be seen, in order and once each. */
export interface SampleDocument {
  readonly markdown: string;
  readonly words: readonly string[];
  /** Words of table headers: seen at least once, repeated where a table goes on. */
  readonly headers: readonly string[];
}

/** Placeholders become numbered words once the whole document is known, so each word is unique. */
const WORD = '\u0001';
const HEADER = '\u0002';

const spice = fc.constantFrom(
  '',
  '',
  '',
  ' <b>',
  ' &amp;',
  ' 1 < 2',
  ' "q"',
  ' a_b_c',
  ' 2*3',
  ' 👩‍👩‍👧',
  ' 中文',
  ' é',
  ' שלום',
);

const phrase: fc.Arbitrary<string> = fc
  .tuple(fc.integer({ min: 1, max: 6 }), spice)
  .map(([count, extra]) => Array<string>(count).fill(WORD).join(' ') + extra);

const span: fc.Arbitrary<string> = fc.oneof(
  phrase,
  phrase,
  phrase.map((text) => `**${text}**`),
  phrase.map((text) => `*${text}*`),
  phrase.map((text) => `**${WORD} *${text}* ${WORD}**`),
  phrase.map((text) => `~~${text}~~`),
  phrase.map((text) => `||${text}||`),
  fc.constantFrom(`\`${WORD}\``, `\`\`${WORD} \` ${WORD}\`\``, `**\`${WORD}\`**`),
  phrase.map((text) => `[${text}](https://e.org/p?a=1&b=2)`),
  fc.constantFrom(`[**${WORD}** \`${WORD}\`](https://e.org)`, `[${WORD}](src/x.ts)`),
  fc.constantFrom(`![${WORD}](https://e.org/i.png)`, `[${WORD}](javascript:alert(1))`),
);

const line = fc.array(span, { minLength: 1, maxLength: 5 }).map((spans) => spans.join(' '));
const paragraph = fc.array(line, { minLength: 1, maxLength: 4 }).map((lines) => lines.join('\n'));
const heading = fc
  .tuple(fc.integer({ min: 1, max: 6 }), line)
  .map(([level, text]) => `${'#'.repeat(level)} ${text}`);

const code = fc
  .tuple(
    fc.constantFrom('', 'js', 'c++', 'odd "name'),
    fc.array(fc.constantFrom(WORD, `  ${WORD} <a> && ${WORD}`, '', '- `x` **y**'), {
      maxLength: 12,
    }),
  )
  .map(([language, lines]) => [`\`\`\`${language}`, ...lines, '```'].join('\n'));

const table = fc
  .tuple(
    fc.integer({ min: 1, max: 5 }),
    fc.integer({ min: 0, max: 8 }),
    fc.constantFrom(
      WORD,
      `**${WORD}**`,
      `${WORD} ${WORD}`,
      `[${WORD}](https://e.org)`,
      `\`${WORD}\` 中文`,
    ),
  )
  .map(([columns, rows, cell]) => {
    const row = (text: string) => `| ${Array<string>(columns).fill(text).join(' | ')} |`;
    return [row(HEADER), row('--'), ...Array<string>(rows).fill(row(cell))].join('\n');
  });

const indented = (text: string, by: string) =>
  text
    .split('\n')
    .map((each, index) => (index === 0 || each === '' ? each : by + each))
    .join('\n');

const block: fc.Memo<string> = fc.memo((depth) => {
  const leaf = fc.oneof(paragraph, paragraph, heading, code, table, fc.constant('---'));
  if (depth <= 1) return leaf;
  const inner = fc
    .array(block(depth - 1), { minLength: 1, maxLength: 3 })
    .map((blocks) => blocks.join('\n\n'));
  const items = fc.array(inner, { minLength: 1, maxLength: 4 });
  return fc.oneof(
    { weight: 4, arbitrary: leaf },
    {
      weight: 1,
      arbitrary: items.map((all) => all.map((item) => `- ${indented(item, '  ')}`).join('\n')),
    },
    {
      weight: 1,
      arbitrary: items.map((all) =>
        all.map((item, at) => `${at + 7}. ${indented(item, '    ')}`).join('\n'),
      ),
    },
    {
      weight: 1,
      arbitrary: items.map((all) =>
        all
          .map((item, at) => `- [${at % 2 ? 'x' : ' '}] ${WORD}\n\n  ${indented(item, '  ')}`)
          .join('\n'),
      ),
    },
    {
      weight: 1,
      arbitrary: inner.map((text) =>
        text
          .split('\n')
          .map((each) => `> ${each}`)
          .join('\n'),
      ),
    },
  );
});

/** Documents of every construct people's models write, nested up to three levels. */
export const sampleDocument: fc.Arbitrary<SampleDocument> = fc
  .array(block(3), { minLength: 1, maxLength: 6 })
  .map((blocks) => numberWords(blocks.join('\n\n')));

function numberWords(template: string): SampleDocument {
  const words: string[] = [];
  const headers: string[] = [];
  let markdown = '';
  for (const character of template) {
    if (character === WORD) markdown += words[words.push(`w${words.length}w`) - 1];
    else if (character === HEADER) markdown += headers[headers.push(`h${headers.length}h`) - 1];
    else markdown += character;
  }
  return { markdown, words, headers };
}

const SNIPPETS = [
  '**',
  '*',
  '_',
  '`',
  '```',
  '~~',
  '||',
  '[',
  '](',
  ')',
  '<',
  '&',
  '|',
  '\n',
  '\n\n',
  '> ',
  '- ',
  '1. ',
  '    ',
  '#',
  '\\',
  '\t',
  '\u0000',
  '\u200b',
  '\u0301',
  '\ud83d',
  '<!--',
  '[^1]',
  '[^1]: ',
  '&lt;',
  '\r\n',
  '---\n',
  '===\n',
  '|-|-|\n',
];

/** A sample after random insertions, deletions and repetitions: sloppy, broken, still to be shown. */
export const mutatedMarkdown: fc.Arbitrary<string> = fc
  .tuple(
    sampleDocument,
    fc.array(fc.tuple(fc.nat(), fc.constantFrom(...SNIPPETS), fc.nat({ max: 12 })), {
      minLength: 1,
      maxLength: 12,
    }),
  )
  .map(([{ markdown }, changes]) => {
    let text = markdown;
    for (const [place, snippet, removed] of changes) {
      const at = place % (text.length + 1);
      text = text.slice(0, at) + snippet + text.slice(at + (removed > 8 ? removed : 0));
    }
    return text;
  });
