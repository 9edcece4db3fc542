import { parse } from 'discord-markdown-parser';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { parseDiscordMarkdown } from './parse-markdown.ts';

/** Formats each run as `formats:text`, without a prefix for plain text. */
const seen = (text: string) =>
  parseDiscordMarkdown(text)
    .runs.map(({ marker, text, formats }) => {
      const names = [...formats].join(' ');
      return marker + (names === '' ? text : `${names}:${text}`);
    })
    .join('|');

const marks: [text: string, seen: string][] = [
  [
    '**b** *i* _i_ __u__ ~~s~~ ||p|| `c`',
    'bold:b| |italic:i| |italic:i| |underline:u| |strike:s| |spoiler:p| |code:c',
  ],
  ['***both***', 'italic bold:both'],
  ['***a* b**', 'bold italic:a|bold: b'],
  ['***a** b*', 'italic bold:a|italic: b'],
  ['**a *b***', 'bold:a |bold italic:b'],
  ['**a***b*', 'bold:a*|b*'],
  ['**a**\u200b*b*', 'bold:a|\u200b|italic:b'],
  ['** a **', 'bold: a '],
  ['x * a*', 'x * a*'],
  ['*a *', 'italic:a'],
  ['*a   *', '*a   *'],
  ['*a * b*', 'italic:a| b*'],
  ['2 * 3 * 4', '2 * 3 * 4'],
  ['a_b_c _d_e', 'a_b_c _d_e'],
  ['a_b_ c', 'a|italic:b| c'],
  ['_é_é', 'italic:é|é'],
  ['a__b__c', 'a|underline:b|c'],
  ['~~a~~_b', '~~a~~_b'],
  ['||a\\||b||', 'spoiler:a\\|b||'],
  ['**a `b** c`', 'bold:a `b| c`'],
  ['**unclosed', '**unclosed'],
  ['``a`b`` `` ` `` `` a', 'code:a`b| |code:`| `` a'],
  ['``a`', 'code:`a'],
  ['\\*a\\* \\a \\\\ \\é', '*|a|*| \\a |\\| |é'],
  ['¯\\_(ツ)_/¯', '¯\\_(ツ)_/¯'],
];

const blocks: [text: string, seen: string][] = [
  ['# a\n## b\n### c\n#### d', 'heading-1:a|\n|heading-2:b|\n|heading-3:c|\n|#### d'],
  ['x # a\n#b', 'x # a\n#b'],
  ['# C#\n# #1\n# \\#1 ##', 'heading-1:C|\n|# #1\n|heading-1:#|heading-1:1|\n'],
  ['#\na', 'heading-1:a|\n'],
  ['-# a\n -# b', 'subtext:a|\n| -# b'],
  ['> a\n> > b\nc', 'quote:a\n> b\n|c'],
  ['a > b\n>c', 'a > b\n>c'],
  ['>>> a\n\nb', 'quote:a\n\nb|\n'],
  ['a\n\\> b', 'a\n|>| b'],
  ['```js\na\n```', 'code codeBlock language-js:a|\n'],
  ['```js```', 'code codeBlock:js|\n'],
  ['x ```\n\na\n\n``` y', 'x |\n|code codeBlock:a|\n| y'],
  ['````\na\n````', 'code codeBlock:`\na|\n|`'],
  ['- a\n* b\n+ c', '• a|\n|• b|\n|+ c'],
  ['3. a\n3. b\n- c', '3. a|\n|4. b|\n|5. c|\n'],
  ['0. a', '1. a|\n'],
  ['- a\n  - b\n    - c\n- d', '• a|\n|  • b|\n|    • c|\n|• d|\n'],
  ['- a\n - b', '• a|\n|• b|\n'],
  ['1. a\n  - b\n    - c', '1. a|\n|  • b|\n|  • c|\n'],
  ['1. a\n   - b\n     - c', '1. a|\n|  • b|\n|    • c|\n'],
  ['- a\n\n  - b', '• a|\n|\n  |\n|• b|\n'],
  ['- a\n  b\nc', '• a\nb|\n|c'],
  ['- a\n  > b', '• a|\n|quote:b|\n'],
  ['- # a', '• # a|\n'],
  ['\\- a', '-| a'],
  ['**- a**', '• bold:a|\n'],
  ['a - b', 'a - b'],
  [
    `${'- '.repeat(12)}x`,
    `${Array.from({ length: 11 }, (_, i) => `${'  '.repeat(i)}• `).join('\n|')}- x|\n`,
  ],
];

const links: [text: string, seen: string][] = [
  ['[a](https://e.org)', 'link:a'],
  ['[**a** `b`](<https://e.org>)', 'link bold:a|link: |link code:b'],
  ['[a](https://e.org/b_(c))', 'link:a'],
  ['[a](https://e.org "t")', 'link:a'],
  ['[a\\*b](https://e.org)', 'link:a\\*b'],
  ['[a\u200bb](https://e.org)', 'link:ab'],
  ['\\[a](https://e.org)', '[|a](|link:https://e.org|)'],
  ['[a]\\(https://e.org)', '[a]|(|link:https://e.org|)'],
  ['[a] (https://e.org)', '[a] (|link:https://e.org|)'],
  ['<https://e.org/.>', 'link:https://e.org/.'],
  ['<a:/b>', 'a:/b'],
  [
    'https://e.org/a_b_c, (https://e.org/(d)).',
    'link:https://e.org/a_b_c|, (|link:https://e.org/(d)|).',
  ],
  ['https://e.org**b**', 'link:https://e.org**b**'],
  ['steam://a', 'steam://a'],
  ['<a@e.org> <+49 123>', 'link:a@e.org| |link:+49 123'],
];

const refused = [
  '[a](b)',
  '[a](javascript:x)',
  '[👍](https://e.org)',
  '[:smile:](https://e.org)',
  '[@everyone](https://e.org)',
  '[https://e.org](https://e.org)',
  '[see discord.gg/abc](https://e.org)',
  '[ ](https://e.org)',
  '[a](https://e%41.org)',
];

const live: [text: string, kind: string][] = [
  ['<@1>', 'user'],
  ['<@!1>', 'user'],
  ['<@&1>', 'role'],
  ['<#1>', 'channel'],
  ['mail@everyone', 'everyone'],
  ['@hereby', 'here'],
  ['</a b c:1>', 'command'],
  ['<t:1:R>', 'time'],
  ['<a:b:1>', 'emoji'],
  [':smile:', 'shortcode'],
  [':+1:', 'shortcode'],
  ['<id:browse>', 'route'],
  ['@silent a', 'silent'],
];

const dead = [
  '@every',
  '<@a>',
  '\\<#1>',
  '`<@1>`',
  '```\n@here\n```',
  '12:30:45',
  '10:00',
  'a @silent',
];

const wrong: [text: string, kind: string][] = [
  ['', 'empty'],
  ['** **', 'empty'],
  ['\\<@1>', 'ping'],
  ['|a|b|\n|-|-|\n|1|2|', 'table'],
  ['#### a', 'deep-heading'],
  ['[a](b)', 'refused-link'],
  ['- a\n  \n  **b**\n', 'loose-list'],
  ['- a\n  **b**', 'joined-lines'],
  ['**a** '.repeat(200), 'too-many-nodes'],
];

describe('the parser of Discord messages', () => {
  it.each(marks)('parses marks, code and escapes: %j', (text, expected) => {
    expect(seen(text)).toBe(expected);
  });

  it.each(blocks)('parses blocks: %j', (text, expected) => {
    expect(seen(text)).toBe(expected);
  });

  it.each(links)('parses links: %j', (text, expected) => {
    expect(seen(text)).toBe(expected);
  });

  it.each(refused)('finds no link in %j', (text) => {
    expect(parseDiscordMarkdown(text).tree).toMatchObject([{ type: 'refusedLink', text }]);
  });

  it.each(live)('finds text that the client replaces: %j', (text, kind) => {
    expect(parseDiscordMarkdown(text).live).toMatchObject([{ kind }]);
  });

  it.each(dead)('finds nothing to replace in %j', (text) => {
    expect(parseDiscordMarkdown(text)).toMatchObject({ live: [], violations: [] });
  });

  it.each(wrong)('reports violations: %j', (text, kind) => {
    expect(parseDiscordMarkdown(text).violations.map((violation) => violation.kind)).toContain(
      kind,
    );
  });

  it('keeps the URL of each link', () => {
    const { runs } = parseDiscordMarkdown('[**a** b](https://e.org)');
    expect(new Set(runs.map(({ link }) => link))).toEqual(new Set([{ url: 'https://e.org' }]));
  });

  /** Syntax that both parsers support in the same way: no lists, headings or bare links. */
  const sign = fc.constantFrom('**', '*', '_', '__', '~~', '||', '`', '``', '```', '\\');
  const word = fc.constantFrom('a', 'b', 'c d', 'é', '.', '\n', '\n> e', '<@100000000000000000>');
  const text = fc
    .array(fc.oneof(sign, word, word), { minLength: 1, maxLength: 14 })
    .map((parts) => parts.join(''))
    // The parsers disagree on code that consists only of line ends, but such code is invisible.
    .filter((parts) => !/```\n*(?:```|$)/.test(parts));

  it("matches another parser's result for the syntax that both support", () => {
    fc.assert(
      fc.property(text, (message) => {
        const own = parseDiscordMarkdown(message).runs;
        expect(charactersOf(own)).toEqual(charactersOf(readSecondOpinion(message)));
      }),
      { numRuns: 3_000 },
    );
  });

  const COMMON = ['bold', 'italic', 'underline', 'strike', 'spoiler', 'code', 'quote', 'live'];

  function charactersOf(runs: readonly { text: string; formats: ReadonlySet<string> }[]): string[] {
    return runs.flatMap(({ text: own, formats }) => {
      const names = COMMON.filter((format) => formats.has(format)).join(' ');
      return [...own].filter((each) => each.trim() !== '').map((each) => `${each} ${names}`);
    });
  }
});

interface SeenRun {
  readonly text: string;
  readonly formats: ReadonlySet<string>;
}

type Node = {
  readonly type: string;
  readonly content?: string | readonly Node[] | undefined;
  readonly id?: string | undefined;
};

const Node: z.ZodType<Node> = z.lazy(() =>
  z.object({
    type: z.string(),
    content: z.union([z.string(), z.array(Node)]).optional(),
    id: z.string().optional(),
  }),
);

const FORMAT: Readonly<Record<string, string>> = {
  strong: 'bold',
  em: 'italic',
  underline: 'underline',
  strikethrough: 'strike',
  spoiler: 'spoiler',
  inlineCode: 'code',
  codeBlock: 'code',
  blockQuote: 'quote',
};

/**
 * Returns the runs that the package `discord-markdown-parser`, an independent implementation of the
 * same rules, finds.
 */
function readSecondOpinion(text: string): SeenRun[] {
  return z
    .array(Node)
    .parse(parse(text))
    .flatMap((node) => runsOf(node, new Set()));
}

function runsOf({ type, content, id }: Node, outer: ReadonlySet<string>): SeenRun[] {
  if (type === 'user') return [{ text: `<@${id}>`, formats: new Set([...outer, 'live']) }];
  if (type === 'br') return [];
  const format = FORMAT[type];
  if (format === undefined && type !== 'text') throw new Error(`unknown: ${type}`);
  const formats = format === undefined ? outer : new Set([...outer, format]);
  if (typeof content === 'string') return [{ text: content, formats }];
  return (content ?? []).flatMap((node) => runsOf(node, formats));
}
