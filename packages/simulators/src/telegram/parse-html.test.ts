import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseTelegramHtml, TelegramHtmlError } from './parse-html.ts';

const bold = (offset: number, length: number) => ({ type: 'bold', offset, length });

const accepted: [html: string, text: string, entities: object[]][] = [
  ['', '', []],
  ['plain > text', 'plain > text', []],
  ['&lt;&gt;&amp;&quot;', '<>&"', []],
  ['&nbsp;&copy;&apos;', '&nbsp;&copy;&apos;', []],
  ['&#65;&#x1F600;&#66', 'A😀B', []],
  ['&#0;&#12345678;&#xD800;', '&#0;&#12345678;&#xD800;', []],
  ['<b>hi</b>', 'hi', [bold(0, 2)]],
  ['<STRONG>hi</STRONG>', 'hi', [bold(0, 2)]],
  ['<b>hi</   >', 'hi', [bold(0, 2)]],
  ['<b></b>x', 'x', []],
  ['😀<b>é😀</b>', '😀é😀', [bold(2, 3)]],
  ['<i>a<b>b</b></i>', 'ab', [{ type: 'italic', offset: 0, length: 2 }, bold(1, 1)]],
  [
    '<ins>a</ins><del>b</del>',
    'ab',
    [
      { type: 'underline', offset: 0, length: 1 },
      { type: 'strikethrough', offset: 1, length: 1 },
    ],
  ],
  ['<span class="tg-spoiler">a</span>', 'a', [{ type: 'spoiler', offset: 0, length: 1 }]],
  ['<span class=tg-spoiler>a</span>', 'a', [{ type: 'spoiler', offset: 0, length: 1 }]],
  ['<tg-spoiler>a</tg-spoiler>', 'a', [{ type: 'spoiler', offset: 0, length: 1 }]],
  [
    '<a href="https://e.org/?a=1&amp;b=2">x</a>',
    'x',
    [{ type: 'text_link', offset: 0, length: 1, url: 'https://e.org/?a=1&b=2' }],
  ],
  [
    "<a href='https://e.org'>x</a>",
    'x',
    [{ type: 'text_link', offset: 0, length: 1, url: 'https://e.org' }],
  ],
  [
    '<a>https://e.org</a>',
    'https://e.org',
    [{ type: 'text_link', offset: 0, length: 13, url: 'https://e.org' }],
  ],
  ['<a href="javascript:alert(1)">x</a>', 'x', []],
  [
    '<a href="tg://user?id=42">x</a>',
    'x',
    [{ type: 'text_mention', offset: 0, length: 1, user_id: 42 }],
  ],
  ['<code>a &lt; b</code>', 'a < b', [{ type: 'code', offset: 0, length: 5 }]],
  ['<pre>a</pre>', 'a', [{ type: 'pre', offset: 0, length: 1 }]],
  [
    '<pre><code class="language-ts">a</code></pre>',
    'a',
    [{ type: 'pre', offset: 0, length: 1, language: 'ts' }],
  ],
  ['<blockquote>a</blockquote>', 'a', [{ type: 'blockquote', offset: 0, length: 1 }]],
  [
    '<blockquote expandable>a</blockquote>',
    'a',
    [{ type: 'expandable_blockquote', offset: 0, length: 1 }],
  ],
  [
    '<blockquote><pre>a</pre></blockquote>',
    'a',
    [
      { type: 'blockquote', offset: 0, length: 1 },
      { type: 'pre', offset: 0, length: 1 },
    ],
  ],
  [
    '<tg-emoji emoji-id="5368324170671202286">👍</tg-emoji>',
    '👍',
    [{ type: 'custom_emoji', offset: 0, length: 2, custom_emoji_id: '5368324170671202286' }],
  ],
  [
    '<tg-time unix="1647531900" format="wDT">noon</tg-time>',
    'noon',
    [{ type: 'date_time', offset: 0, length: 4, unix_time: 1647531900, date_time_format: 'wDT' }],
  ],
  [
    '<b>a<code>b</code>c</b>',
    'abc',
    [bold(0, 1), { type: 'code', offset: 1, length: 1 }, bold(2, 1)],
  ],
];

const refused: [html: string, reason: string][] = [
  ['😀&lt;<abac>', 'Unsupported start tag "abac" at byte offset 8'],
  ['a < b', 'Unsupported start tag "" at byte offset 2'],
  ['a <', 'Unclosed start tag at byte offset 2'],
  ['<b', 'Unclosed start tag at byte offset 0'],
  ['<p>x</p>', 'Unsupported start tag "p" at byte offset 0'],
  ['<br/>', 'Unsupported start tag "br/" at byte offset 0'],
  ['<b>x', 'Can\'t find end tag corresponding to start tag "b"'],
  ['<b>x</i>', 'Unmatched end tag at byte offset 4, expected "</b>", found "</i>"'],
  ['<b><i>x</b></i>', 'Unmatched end tag at byte offset 7, expected "</i>", found "</b>"'],
  ['x</b>', 'Unexpected end tag at byte offset 1'],
  ['<i>a</i   ', 'Unclosed end tag at byte offset 4'],
  ['<i   =a>', 'Empty attribute name in the tag "i" at byte offset 0'],
  ['<i  a  =  190a.,', 'Unexpected end of name token at byte offset 10'],
  ['<i  a  =  ', 'Unclosed start tag "i" at byte offset 0'],
  ['<i  a  =  "x>', 'Unclosed start tag at byte offset 0'],
  ['<span>x</span>', 'Tag "span" must have class "tg-spoiler" at byte offset 0'],
  ['<span class="x">x</span>', 'Tag "span" must have class "tg-spoiler" at byte offset 0'],
  ['<tg-emoji>x</tg-emoji>', 'Invalid custom emoji identifier specified'],
  [
    '<blockquote>a<blockquote>b</blockquote></blockquote>',
    'Tag "blockquote" can\'t be nested in "blockquote" at byte offset 13',
  ],
  ['<code><b>x</b></code>', 'Tag "b" can\'t be nested in "code" at byte offset 6'],
  ['<pre><b>x</b></pre>', 'Tag "b" can\'t be nested in "pre" at byte offset 5'],
  [
    '<pre><code><code>x</code></code></pre>',
    'Tag "code" can\'t be nested in "pre" at byte offset 11',
  ],
  [
    '<a href="https://a.b"><a href="https://c.d">x</a></a>',
    'Tag "a" can\'t be nested in "a" at byte offset 22',
  ],
];

describe('the parser of Telegram HTML', () => {
  it.each(accepted)('parses %j', (html, text, entities) => {
    expect(parseTelegramHtml(html)).toEqual({ text, entities });
  });

  it.each(refused)('refuses %j', (html, reason) => {
    expect(() => parseTelegramHtml(html)).toThrow(new TelegramHtmlError(reason));
  });

  it('returns escaped text unchanged and without formatting', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const escaped = text
          .replaceAll('&', '&amp;')
          .replaceAll('<', '&lt;')
          .replaceAll('>', '&gt;');
        expect(parseTelegramHtml(escaped)).toEqual({ text, entities: [] });
      }),
    );
  });

  it('accepts or refuses any text and never returns formatting that extends past its end', () => {
    const soup = fc.array(
      fc.constantFrom(
        '<b>',
        '</b>',
        '<i>',
        '</i>',
        '<pre>',
        '</pre>',
        '<code class="language-x">',
        '</code>',
        '<a href="e.org">',
        '</a>',
        '</>',
        '&lt',
        '&',
        '<',
        '😀',
        'x',
        ' ',
        '"',
      ),
      { maxLength: 14 },
    );
    fc.assert(
      fc.property(soup, (pieces) => {
        try {
          const { text, entities } = parseTelegramHtml(pieces.join(''));
          for (const { offset, length } of entities) {
            expect(length).toBeGreaterThan(0);
            expect(offset + length).toBeLessThanOrEqual(text.length);
          }
        } catch (error) {
          expect(error).toBeInstanceOf(TelegramHtmlError);
        }
      }),
      { numRuns: 500 },
    );
  });
});
