import { describe, expect, it } from 'vitest';
import { getRichText } from './blocks.ts';
import { parseMrkdwn } from './parse-mrkdwn.ts';
import { convertMarkdown } from './read-markdown.ts';
import { toMrkdwn, toPlainText } from './rich-text.ts';
import { normalizeText } from './text.ts';

const NAMES = { user: (id: string) => `user ${id}`, channel: (id: string) => `channel ${id}` };

/** Returns the visible text and its formatted runs. */
function look(source: string) {
  const parts = parseMrkdwn(source);
  const styled = parts.flatMap((part) => {
    const lines =
      part.type === 'rich_text_list' ? part.elements.flatMap((l) => l.elements) : part.elements;
    return lines.flatMap((one) =>
      one.style === undefined || one.type !== 'text'
        ? []
        : [`${Object.keys(one.style)}: ${one.text}`],
    );
  });
  return { text: toPlainText(parts, NAMES), styled };
}

describe('mrkdwn', () => {
  it.each<[string, string, string[]]>([
    [
      '*bold* _it_ ~no~ `code`',
      'bold it no code',
      ['bold: bold', 'italic: it', 'strike: no', 'code: code'],
    ],
    ['*_both_*', 'both', ['bold,italic: both']],
    ['a*b*c and 2 * 3 * 4', 'a*b*c and 2 * 3 * 4', []],
    ['* not bold* and *not\nbold*', '* not bold* and *not\nbold*', []],
    ['**no**', '**no**', []],
    ['snake_case_name', 'snake_case_name', []],
    ['`*a*`', '*a*', ['code: *a*']],
    ['(*yes*)', '(yes)', ['bold: yes']],
    ['&lt;b&gt; &amp;amp;', '<b> &amp;', []],
    ['<@U1> <#C1|old> <!here> <!subteam^S1>', '@user U1 #channel C1 @here @S1', []],
    ['<https://a.example/?a=1&amp;b=2|_x_>', '_x_', []],
    ['<b> 1 < 2', '<b> 1 < 2', []],
    ['at 10:30:45 :tada: :unknown:', 'at 10:30:45 🎉 :unknown:', []],
    ['see\n&gt; quoted\n&gt; more\nafter', 'see\nquoted\nmore\nafter', []],
    ['&gt;&gt;&gt; all\nof it', 'all\nof it', []],
    ['x\n```\ncode *a*\n```\ny', 'x\ncode *a*\ny', []],
  ])("renders %s as Slack's clients do", (source, text, styled) => {
    expect(look(source)).toEqual({ text, styled });
  });

  it.each([
    ['see https://a.example/b, ok', 'see <https://a.example/b>, ok'],
    ['`https://a.example` <https://b.example>', '`https://a.example` <https://b.example>'],
    ['well done 👍 🎉', 'well done :+1: :tada:'],
  ])('normalizes %s', (typed, stored) => {
    expect(normalizeText(typed)).toBe(stored);
  });

  it('converts parsed mrkdwn back to the same source', () => {
    const source = '*bold* and <@U1> with <https://a.example|a link> &amp; `code`\n&gt; quote';
    expect(toMrkdwn(parseMrkdwn(source))).toBe(source);
  });
});

describe('Markdown', () => {
  it.each<[string, string]>([
    ['a **b** _c_ ~~d~~ `e`', 'a *b* _c_ ~d~ `e`'],
    ['[x](https://a.example) https://b.example', '<https://a.example|x> <https://b.example>'],
    ['1. one\n2. two\n   - deep\n3. three', '1. one\n2. two\n    • deep\n3. three'],
    ['- [x] done\n- [ ] open', '• ☑ done\n• ☐ open'],
    ['> a\n> b', '&gt; a\n&gt; b'],
    ['```js\nx < y\n```', '```x &lt; y```'],
    ['a\n\nb', 'a\n\nb'],
    ['<!here> & <@U1>', '<!here> &amp; <@U1>'],
  ])('converts %s to %s', (source, expected) => {
    const [block] = convertMarkdown(source);
    expect(block?.type).toBe('rich_text');
    expect(toMrkdwn(getRichText(block ?? {}))).toBe(expected);
  });
});
