import fc from 'fast-check';
import { line } from './sample-inlines.ts';
import { numberWords, type SampleDocument, WORD } from './sample-words.ts';

/** Model output that is not quite Markdown, or does not mean what the model intended. */
const SLOPPY = [
  `${WORD}:\n- ${WORD}\n- ${WORD}`,
  `${WORD}:\n1. ${WORD}\n2. ${WORD}\n   - ${WORD}`,
  `** ${WORD} ** and * ${WORD} *`,
  `**${WORD}:**${WORD}`,
  `**「${WORD}」**${WORD}`,
  `*${WORD}**${WORD}*`,
  `**${WORD} *${WORD}** ${WORD}*`,
  `${WORD} **${WORD}`,
  `\`${WORD} **${WORD}\`**`,
  `- ${WORD}\n   - ${WORD}\n      - ${WORD}\n\t- ${WORD}`,
  `* ${WORD}\n\t* ${WORD}\n\t\t* ${WORD}\n  continued ${WORD}`,
  `1) ${WORD}\n   ${WORD}\n10) ${WORD}`,
  `#${WORD}\n##  ${WORD} ##`,
  `\`\`\`md\n\`\`\`js\n${WORD}\n\`\`\`\n${WORD}\n\`\`\``,
  `- \`\`\`\n  ${WORD}\n${WORD}`,
  `> ${WORD}\nlazy ${WORD}\n> - ${WORD}\nlazy`,
  `> ${WORD}\n>> ${WORD}\n>>> ${WORD}`,
  `|${WORD}|\n|-|\n${WORD}\n\n${WORD}|${WORD}\n-|-\n1|2|3`,
  `| a | b |\n|---|\n| ${WORD} |`,
  `| ${WORD} |\n|-|\n| **${WORD} |\n| ${WORD}** |`,
  `[${WORD}](https://e.org/a(b)`,
  `[${WORD}]( https://e.org )`,
  `[${WORD}][nowhere] ![${WORD}][nowhere]`,
  `![${WORD}] (https://e.org/i.png)`,
  `[${WORD}](<https://e.org/x y>) https://e.org/a*b*c`,
  `$${WORD}_1 ${WORD}_2$ $ 5 $`,
  `$$ ${WORD} $$ and $$\n${WORD}`,
  `||${WORD} ||${WORD}|| ${WORD}||`,
  `<u>${WORD} <br> ${WORD}`,
  `</u>${WORD}<u>**${WORD}</u>**`,
  `<p align="center">\n${WORD}\n</p>\n\n**${WORD}**`,
  `${WORD}\n===\n${WORD}\n---`,
  `- [ ]${WORD}\n- [x]\n- [] ${WORD}`,
  `-\n  ${WORD}\n-\n\n  ${WORD}`,
  `[^a]: ${WORD}\n\n${WORD}[^a] ${WORD}[^b]`,
  `\u202e${WORD}\u202c \u2067${WORD}\u2069`,
  `@${WORD} x@${WORD}.org @everyone\u200b @\u200beveryone`,
  `\\**${WORD}** \\\`${WORD}\` \\[${WORD}](x)`,
  `&${WORD}; &#42;${WORD}&#42; &lt;b&gt;`,
  `***${WORD}** ${WORD}*`,
  `__${WORD}__${WORD} _${WORD}_${WORD}`,
  `~${WORD}~ ~~~${WORD}~~~`,
];

const SNIPPETS = [
  ...['**', '*', '_', '__', '`', '``', '```', '```js\n', '~~~', '~~', '~', '||', '$', '$$', '\\'],
  ...['[', ']', '](', ')', '](https://e.org)', '![', '[^1]', '[^1]: ', '[r1]', '[x]: y\n'],
  ...['<', '>', '&', '&lt;', '<b>', '</b>', '<u>', '</u>', '<br>', '<!--', '-->', '<div>\n'],
  ...['|', '|-|-|\n', '\n|a|b|\n|-|-|\n|1|2|\n', '\\|'],
  ...['\n', '\n\n', '\r\n', '\r', '  \n', '\t', '    ', '\n\t', '\n    '],
  ...['> ', '\n> ', '- ', '\n- ', '1. ', '\n2. ', '\n- [x] ', '#', '\n# ', '---\n', '\n===\n'],
  ...['\u0000', '\u200b', '\u0301', '\ud83d', '\u202e', '\ufeff', '\u00ad', '👩‍👩‍👧', '️', '\u200d'],
  ...['@', '@everyone', '<@1>', ':', '\\(', '\\)', '\\[', '\\]', '"', "'"],
];

const sloppyText: fc.Arbitrary<string> = fc
  .array(
    fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...SLOPPY) }, { weight: 1, arbitrary: line }),
    {
      minLength: 1,
      maxLength: 5,
    },
  )
  .chain((all) => fc.constantFrom('\n\n', '\n').map((gap) => all.join(gap)))
  .map((template) => numberWords(template).markdown);

const edits = fc.array(
  fc.tuple(fc.nat(), fc.constantFrom(...SNIPPETS), fc.nat({ max: 12 }), fc.nat({ max: 40 })),
  { minLength: 1, maxLength: 8 },
);

/**
 * Documents after random insertions, deletions and repetitions: sloppy or broken Markdown that must
 * still be shown.
 */
export function mutateDocuments(documents: fc.Arbitrary<SampleDocument>): fc.Arbitrary<string> {
  const wellFormed = documents.map(({ markdown }) => markdown);
  return fc
    .tuple(
      fc.oneof({ weight: 2, arbitrary: wellFormed }, { weight: 1, arbitrary: sloppyText }),
      fc.oneof({ weight: 3, arbitrary: edits }, { weight: 1, arbitrary: fc.constant([]) }),
    )
    .map(([text, changes]) => changes.reduce(editText, text));
}

function editText(
  text: string,
  [place, snippet, way, length]: readonly [number, string, number, number],
): string {
  const at = place % (text.length + 1);
  const rest = way > 8 ? text.slice(at + length) : text.slice(at);
  const again = way > 10 ? text.slice(at, at + length) : '';
  return text.slice(0, at) + snippet + again + rest;
}
