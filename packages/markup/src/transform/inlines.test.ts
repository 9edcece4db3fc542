import { describe, expect, it } from 'vitest';
import { render } from '../render.ts';

const show = (markdown: string, dialect: 'telegram' | 'plain' | 'whatsapp' = 'telegram') =>
  render(markdown, { dialect, maxLength: 4096, unit: 'utf16' })
    .map(({ text }) => text)
    .join('');

const tags: [what: string, markdown: string, shown: string][] = [
  ['underline', '<u>a *b*</u> <INS>c</INS>', '<u>a <i>b</i></u> <u>c</u>'],
  ['underlines in each other once', '<u>a <ins>b</ins> c</u>', '<u>a b c</u>'],
  [
    'underline in marks and links',
    '**<u>a</u>** [<u>b</u>](https://e.org)',
    '<b><u>a</u></b> <a href="https://e.org"><u>b</u></a>',
  ],
  ['line breaks', 'a<br>b<BR/>c<br />d', 'a\nb\nc\nd'],
  ['a line break at a line end once', 'a<br>\nb', 'a\nb'],
  ['an empty line', 'a<br><br>b', 'a\n\nb'],
  ['line breaks in headings and items', '# a<br>b\n- c<br>d', '<b>a\nb</b>\n• c\n  d'],
  ['line breaks in marks', '**a<br>b**', '<b>a\nb</b>'],
  ['no line breaks at the ends', '<br>a<br>', 'a'],
  ['line breaks between paragraphs as nothing', 'a\n\n<br>\n\nb\n\n<br><br>\n\nc', 'a\n\nb\n\nc'],
];

const literal: [what: string, markdown: string][] = [
  ['other tags', '<b>a</b> <U id=x>b</U> <br id=x>'],
  ['tags that do not end', '<u>a <ins>b'],
  ['ends without a beginning', 'a</u> b</ins>'],
  ['tags that cross', '<u>a</ins>'],
  ['spoiler bars in tags', '<a b="||c||">'],
];

const marks: [what: string, markdown: string, shown: string][] = [
  ['bold italic', '***a*** **_b_** _**c**_', '<i><b>a</b></i> <b><i>b</i></b> <i><b>c</b></i>'],
  ['marks over line ends', '**a\nb** ~~c  \nd~~', '<b>a\nb</b> <s>c\nd</s>'],
  ['marks without an end', '**a ~~b `c', '**a ~~b `c'],
  ['marks beside NUL', '***\u0000* **\u0000**', '**<i>\ufffd</i> <b>\ufffd</b>'],
  ['a single tilde', '~a~', '~a~'],
  [
    'escaped bars, which hide nothing',
    '\\|\\|a\\|\\| ||b|| c \\||',
    '||a|| <tg-spoiler>b</tg-spoiler> c ||',
  ],
  ['escapes', '\\*a\\* \\&lt;', '*a* &amp;lt;'],
  [
    'references as they are written',
    '&lt;b&gt; *&copy;* &#x1F600; &nope; AT&T',
    '&amp;lt;b&amp;gt; <i>&amp;copy;</i> &amp;#x1F600; &amp;nope; AT&amp;T',
  ],
  [
    'addresses of all kinds',
    '<https://e.org/a_b> <a@e.org> www.e.org.',
    '<a href="https://e.org/a_b">https://e.org/a_b</a> a@e.org <a href="http://www.e.org">www.e.org</a>.',
  ],
  [
    'an image without a name',
    '![](https://e.org/i.png)',
    '<a href="https://e.org/i.png">https://e.org/i.png</a>',
  ],
  ['an image in its own address', '![a](data:image/png;base64,iVBO) ![](data:image/gif,x)', 'a 🖼'],
  ['a link without a text', '[](https://e.org)', '<a href="https://e.org">https://e.org</a>'],
  [
    'a link with nothing to see in its text',
    '[\u200b](https://e.org)',
    '<a href="https://e.org">https://e.org</a>',
  ],
  ['a link without its title', '[a](https://e.org "t")', '<a href="https://e.org">a</a>'],
];

const characters: [what: string, markdown: string, shown: string][] = [
  ['NUL', 'a\0b', 'a\ufffdb'],
  ['what a terminal would obey', 'a\u001b[2Jb\u001b]0;c\u0007\u0007d\u009b', 'abd'],
  ['carriage returns and other line ends', 'a\r\nb\rc\rd\u2028e\u0085f', 'a\nb\nc\nd\ne\nf'],
  ['form feeds', 'a\fb', 'a b'],
  ['half a surrogate pair', 'a\ud83d', 'a\ufffd'],
  ['overrides of the writing direction', 'a\u202eb\u202c\u202ec `\u202dd`', 'abc d'],
  ['directions that do not end in their line', 'a \u2067b\nc\u2069', 'a b\nc'],
  ['text in invisible tags', 'a\u{e0041}\u{e0042}', 'a'],
  ['control characters in code', '`a\u0007` \n```\nb\u0008\n```', 'a\nb'],
];

const kept: [what: string, text: string][] = [
  ['text from right to left', 'שלום (عربي) abc'],
  ['direction marks', '\u2067שלום\u2069\u200f'],
  ['joiners', '👩‍👩‍👧 می‌خواهم'],
  ['combining marks', 'e\u0301 \u0928\u093f'],
  ['spaces that do not break', 'a\u00a0b\u202fc'],
  ['zero-width spaces', 'a\u200bb\u2060c'],
  ['tabs', 'a\tb'],
];

describe('inline content', () => {
  it.each(tags)('[M01] supports %s in HTML', (_, markdown, shown) => {
    expect(show(markdown)).toBe(shown);
  });

  it.each(literal)('[M01] shows literally %s', (_, markdown) => {
    expect(show(markdown, 'plain')).toBe(markdown);
  });

  it.each(marks)('[M01] shows %s', (_, markdown, shown) => {
    expect(show(markdown)).toBe(shown);
  });

  it('[M01] omits a mark that the platform does not support, but not its text', () => {
    expect(show('<u>a</u> *<u>b</u>*', 'whatsapp')).toBe('a _b_');
  });

  it.each(characters)('[M01] replaces %s', (_, markdown, shown) => {
    expect(show(markdown, 'plain')).toBe(shown);
  });

  it.each(kept)('[M03] keeps %s', (_, text) => {
    expect(show(text, 'plain')).toBe(text);
  });

  it('[M01] ignores a byte order mark', () => {
    expect(show('\ufeff# a\n\n[x]: y')).toBe('<b>a</b>\n\n[x]: y');
  });

  it('removes control characters from URLs', () => {
    expect(show('[a](<https://e.org/&#10;b&#1;>)')).toBe('<a href="https://e.org/b\ufffd">a</a>');
  });
});
