import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseTelegramMarkdownV2, TelegramMarkdownError } from './parse-markdown-v2.ts';

const entity = (type: string, offset: number, length: number, more: object = {}) => ({
  type,
  offset,
  length,
  ...more,
});
const link = (offset: number, length: number, url: string) =>
  entity('text_link', offset, length, { url });
const pre = (offset: number, length: number, language?: string) =>
  entity('pre', offset, length, language === undefined ? {} : { language });

const accepted: [source: string, text: string, entities: object[]][] = [
  ['', '', []],
  ['plain, text; "quoted" & 1 < 2', 'plain, text; "quoted" & 1 < 2', []],
  ['1\\. a\\_b \\(c\\) \\\\ \\x \\', '1. a_b (c) \\ x \\', []],
  ['\\é', '\\é', []],
  ['*hi*', 'hi', [entity('bold', 0, 2)]],
  ['_hi_ ~no~', 'hi no', [entity('italic', 0, 2), entity('strikethrough', 3, 2)]],
  ['__hi__ ||no||', 'hi no', [entity('underline', 0, 2), entity('spoiler', 3, 2)]],
  ['😀*é😀*', '😀é😀', [entity('bold', 2, 3)]],
  ['*a _b_*', 'a b', [entity('bold', 0, 3), entity('italic', 2, 1)]],
  ['__a _b_ __', 'a b ', [entity('underline', 0, 4), entity('italic', 2, 1)]],
  ['_a __b___', 'a b', [entity('italic', 0, 3), entity('underline', 2, 1)]],
  ['*a\nb*', 'a\nb', [entity('bold', 0, 3)]],
  ['**____``||||``````', '', []],
  ['`a*b_c[d`', 'a*b_c[d', [entity('code', 0, 7)]],
  ['`a\\`b\\\\`', 'a`b\\', [entity('code', 0, 4)]],
  ['*a`b`c*', 'abc', [entity('bold', 0, 1), entity('code', 1, 1), entity('bold', 2, 1)]],
  ['```\na.b\n```', 'a.b\n', [pre(0, 4)]],
  ['```ts\na = 1;\n```', 'a = 1;\n', [pre(0, 7, 'ts')]],
  ['```ts\r\na```', 'a', [pre(0, 1, 'ts')]],
  ['```ts a```', ' a', [pre(0, 2, 'ts')]],
  ['```a```', 'a', [pre(0, 1)]],
  ['```\na\\`\\`\\`b```', 'a```b', [pre(0, 5)]],
  ['[x](https://e.org/a_b?c=d.e)', 'x', [link(0, 1, 'https://e.org/a_b?c=d.e')]],
  ['[x](https://e.org/\\(a\\))', 'x', [link(0, 1, 'https://e.org/(a)')]],
  ['[*x*](e.org)', 'x', [entity('bold', 0, 1), link(0, 1, 'e.org')]],
  ['[e\\.org]', 'e.org', [link(0, 5, 'e.org')]],
  ['[x](src/a.ts) [y]()', 'x y', []],
  ['[](https://e.org)', '', []],
  ['[Ann](tg://user?id=42)', 'Ann', [entity('text_mention', 0, 3, { user_id: 42 })]],
  ['![👍](tg://emoji?id=25)', '👍', [entity('custom_emoji', 0, 2, { custom_emoji_id: '25' })]],
  ['>a', 'a', [entity('blockquote', 0, 1)]],
  ['>a\n>b\nc', 'a\nb\nc', [entity('blockquote', 0, 4)]],
  ['>a\n\n>b', 'a\n\nb', [entity('blockquote', 0, 2), entity('blockquote', 3, 1)]],
  ['>a\n**>b', 'a\nb', [entity('blockquote', 0, 2), entity('blockquote', 2, 1)]],
  ['>a\n>b||', 'a\nb', [entity('expandable_blockquote', 0, 3)]],
  ['>a||\r\nb', 'a\r\nb', [entity('expandable_blockquote', 0, 3)]],
  ['>||a||\nb', 'a\nb', [entity('blockquote', 0, 2), entity('spoiler', 0, 1)]],
  ['*a\n>b\nc*', 'a\nb\nc', [entity('bold', 0, 5), entity('blockquote', 2, 2)]],
  ['>`a\nb`\nc', 'a\nb\nc', [entity('blockquote', 0, 4), entity('code', 0, 3)]],
  ['>>a', 'a', [entity('blockquote', 0, 1)]],
  ['>', '', []],
  ['\r>a', '\ra', [entity('blockquote', 1, 1)]],
];

const reserved = (character: string) =>
  `Character '${character}' is reserved and must be escaped with the preceding '\\'`;

const refused: [source: string, reason: string][] = [
  ...[...']()#+-=|{}.!'].map((character): [string, string] => [
    `😀 ${character} x`,
    reserved(character),
  ]),
  ['a > b', reserved('>')],
  [' > b', reserved('>')],
  ['> > b', reserved('>')],
  ['*a*>b', reserved('>')],
  ['😀*a', "Can't find end of Bold entity at byte offset 4"],
  ['a_b', "Can't find end of Italic entity at byte offset 1"],
  ['__a_', "Can't find end of Italic entity at byte offset 3"],
  ['_a__', "Can't find end of Underline entity at byte offset 2"],
  ['*a _b* c_', "Can't find end of Italic entity at byte offset 8"],
  ['~a', "Can't find end of Strikethrough entity at byte offset 0"],
  ['||a\\||', reserved('|')],
  ['||a', "Can't find end of Spoiler entity at byte offset 0"],
  ['`a', "Can't find end of Code entity at byte offset 0"],
  ['```\na', "Can't find end of Pre entity at byte offset 0"],
  ['```ts\na``', "Can't find end of PreCode entity at byte offset 0"],
  ['[a', "Can't find end of TextUrl entity at byte offset 0"],
  ['[a](https://e.org', "Can't find end of a URL at byte offset 4"],
  ['[a](https://e.org\\)', "Can't find end of a URL at byte offset 4"],
  ['![a', "Can't find end of CustomEmoji entity at byte offset 0"],
  ['![a]', 'Custom emoji entity must contain a tg://emoji URL'],
  ['![a](https://e.org/i.png)', 'Custom emoji URL must have scheme tg'],
  ['![a](tg://emojis?id=1)', 'Custom emoji URL must have host "emoji"'],
  ['![a](tg://emoji?x=1)', 'Custom emoji URL must have an emoji identifier'],
  ['![a](tg://emoji?id=01)', 'Invalid custom emoji identifier specified'],
  ['![a](tg://emoji?id=1', "Can't find end of a custom emoji URL at byte offset 5"],
  ['>*a\nb*', "Can't find end of Bold entity at byte offset 1"],
  ['>a||b||c||d\ne', "Can't find end of Spoiler entity at byte offset 8"],
];

describe('Telegram MarkdownV2 as the servers read it', () => {
  it.each(accepted)('[M01] reads %j', (source, text, entities) => {
    expect(parseTelegramMarkdownV2(source)).toEqual({ text, entities });
  });

  it.each(refused)('[M01] refuses %j', (source, reason) => {
    expect(() => parseTelegramMarkdownV2(source)).toThrow(new TelegramMarkdownError(reason));
  });

  it('[M01] gives back any text that was escaped, and finds no format in it', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const escaped = text.replaceAll(/[_*[\]()~`>#+\-=|{}.!\\]/g, '\\$&');
        expect(parseTelegramMarkdownV2(escaped)).toEqual({ text, entities: [] });
      }),
    );
  });

  it('[M01] answers or refuses any text at all, and never lets a format reach past the end', () => {
    const marks = ['*', '_', '__', '~', '||', '`', '```', '[', '](', ')', '![', '>', '\n', '\\'];
    const soup = fc.array(fc.constantFrom(...marks, '\r', 'x', ' ', '😀', 'https://e.org'), {
      maxLength: 14,
    });
    fc.assert(
      fc.property(soup, (pieces) => {
        try {
          const { text, entities } = parseTelegramMarkdownV2(pieces.join(''));
          for (const { offset, length } of entities) {
            expect(length).toBeGreaterThan(0);
            expect(offset + length).toBeLessThanOrEqual(text.length);
          }
        } catch (error) {
          expect(error).toBeInstanceOf(TelegramMarkdownError);
        }
      }),
      { numRuns: 500 },
    );
  });
});
