import fc from 'fast-check';
import { line, paragraph } from './sample-inlines.ts';
import { table } from './sample-tables.ts';
import { markFormat, markUnformatted, WORD } from './sample-words.ts';

type TextArbitrary = fc.Arbitrary<string>;

const heading: TextArbitrary = fc.oneof(
  fc
    .tuple(fc.integer({ min: 1, max: 6 }), line)
    .map(([level, text]) => `${'#'.repeat(level)} ${text}`),
  fc.tuple(line, fc.constantFrom('===', '---')).map(([text, under]) => `${text}\n${under}`),
);

const CODE_LINES = [
  WORD,
  `  ${WORD} <a> && ${WORD}`,
  `\tif (${WORD}) { return "x"; }`,
  '',
  `- \`${WORD}\` **y**`,
  `# ${WORD}`,
  `| ${WORD} | b |`,
  `> ${WORD} \\ \\* *a*`,
  `@everyone <@1> ${WORD} ||x||`,
  `中文 👩‍👩‍👧 ${WORD}`,
  `\`\` ${WORD}`,
];
const linesOfCode = (minLength: number, maxLength: number): TextArbitrary =>
  fc
    .array(fc.constantFrom(...CODE_LINES), { minLength, maxLength })
    .map((lines) => lines.join('\n'));
const codeLines = linesOfCode(1, 6);
const fenced: TextArbitrary = fc
  .tuple(
    fc.constantFrom('', 'js', 'c++', 'odd "name', 'ts title="x.ts"'),
    // Long enough to be split even when a part has space left.
    fc.oneof({ weight: 7, arbitrary: codeLines }, { weight: 1, arbitrary: linesOfCode(60, 120) }),
    fc.constantFrom('```', '```', '~~~', '````'),
  )
  .map(([language, body, fence]) => {
    const inner = fence === '````' ? `\`\`\`\n${body}\n\`\`\`` : body;
    return `${fence}${language}\n${markFormat(inner, 'code')}\n${fence}`;
  });
const indentedCode: TextArbitrary = codeLines
  .filter((body) => /^\S/.test(body))
  // After a list, the text may belong to the last item; directly after a list, the parser does not
  // find another list.
  .map((body) => `${markUnformatted(`    ${body.replaceAll('\n', '\n    ')}`)}\n\n${WORD}`);

const other: TextArbitrary = fc.constantFrom(
  '---',
  '***',
  `$$\nx_1 * y_2 + ${WORD}\n$$`,
  `\\[\nx_1 * y_2 + ${WORD}\n\\]`,
  `<details>\n<summary>${WORD}</summary>\n${WORD} *${WORD}*\n</details>`,
  `<!-- ${WORD} -->`,
);

const leaf: TextArbitrary = fc.oneof(
  { weight: 6, arbitrary: paragraph },
  { weight: 2, arbitrary: heading },
  { weight: 2, arbitrary: fenced },
  { weight: 2, arbitrary: table },
  { weight: 1, arbitrary: indentedCode },
  { weight: 1, arbitrary: other },
);

function indentText(text: string, by: string): string {
  return text.replaceAll(/\n(?!\n|$)/g, `\n${by}`);
}

const MARKERS: readonly ((index: number) => string)[] = [
  () => '- ',
  () => '* ',
  () => '+ ',
  (index) => `${index + 1}. `,
  (index) => `${index + 7}. `,
  (index) => `${index}) `,
  (index) => `- [${index % 2 ? 'x' : ' '}] `,
  (index) => `${index + 1}. [X] `,
];

function createList(inner: TextArbitrary): TextArbitrary {
  return fc
    .tuple(
      fc.array(inner, { minLength: 1, maxLength: 3 }),
      fc.constantFrom(...MARKERS),
      fc.constantFrom('\n', '\n', '\n\n'),
    )
    .map(([items, marker, gap]) => {
      const lines = items.map((item, index) => {
        const mark = marker(index);
        const isTask = mark.includes('[');
        const indent = ' '.repeat(isTask ? mark.indexOf('[') : mark.length);
        // A task is a paragraph regardless of the text that follows.
        return isTask
          ? `${mark}${WORD}\n\n${indent}${indentText(item, indent)}`
          : mark + indentText(item, indent);
      });
      return lines.join(gap);
    });
}

function createQuote(inner: TextArbitrary): TextArbitrary {
  return inner.map((text) => `> ${text.replaceAll('\n', '\n> ')}`);
}

function createBlocks(depth: number): TextArbitrary {
  if (depth === 0) return fc.oneof({ weight: 3, arbitrary: line }, { weight: 1, arbitrary: leaf });
  const inner = fc
    .array(createBlocks(depth - 1), { minLength: 1, maxLength: 2 })
    .map((all) => all.join('\n\n'));
  return fc.oneof(
    { weight: 6, arbitrary: leaf },
    { weight: 3, arbitrary: createList(inner) },
    { weight: 2, arbitrary: createQuote(inner) },
  );
}

/** One block of any kind; lists and quotes contain blocks, up to three levels deep. */
export const block: TextArbitrary = createBlocks(3);
