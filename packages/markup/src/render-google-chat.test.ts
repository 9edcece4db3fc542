import type { RenderTarget } from '@parley/core';
import { describe, expect, it } from 'vitest';
import { printGoogleChat } from './print/google-chat.ts';
import { render } from './render.ts';
import {
  createBoldLeaf,
  createTextRenderer,
  itRenders,
  type RenderCase,
  visible,
} from './testing/render-cases.ts';

const GOOGLE_CHAT: RenderTarget = { dialect: 'google-chat', maxLength: 30_000, unit: 'byte' };
const texts = createTextRenderer(GOOGLE_CHAT);

const shown: RenderCase[] = [
  ['each mark', '**b** *i* ~~s~~ `c`', '*b* _i_ ~s~ `c`'],
  ['a heading as a bold line', '## A *b*', '*A _b_*'],
  ['a link', '[a & b](https://e.org/?x=1&y=2)', '<https://e.org/?x=1&y=2|a & b>'],
  ['a bare URL, which is linked by itself', 'See https://e.org/_a_.', 'See https://e.org/_a_.'],
  ['a marked link', '**[a](https://e.org)** b', '*<https://e.org|a>* b'],
  ['a link whose text would end it', '[a>b](https://e.org)', 'a>b (https://e.org)'],
  ['the characters that end a link', '[a](<https://e.org/|x y>)', '<https://e.org/%7Cx%20y|a>'],
  ['an address that is no web page', '[a](mailto:a@e.org)', 'a (mailto:a@e.org)'],
  ['lists, with bullets of its own at the top', '- a\n  - b\n- c', '- a\n    • b\n- c'],
  ['numbers as text', '3. a\n4. b', '3. a\n4. b'],
  ['a quote on every line', '> a\nb', '> a\n> b'],
  ['code without its language', '```js\na < b\n```', '```\na < b\n```'],
  ['code in a quote outside of it', '> a\n> ```\n> b\n> ```', '> a\n```\nb\n```'],
];

const literals: RenderCase[] = [
  ['what needs no change', 'a < b > c & d &lt; <div> :smile:', 'a < b > c & d &lt; <div> :smile:'],
  ['marks', '\\*a\\* \\_b\\_', '¦*¦a* ¦_¦b_'],
  ['items and quotes', '\\- a\n\\> b', '¦- a\n¦> b'],
  ['a link', '\\<https://e.org|a>', '<·https://e.org|a>'],
  ['a link with marks', '\\<e.org|**a**>', '<·e.org|*a*>'],
];

const mentions: RenderCase[] = [
  ['everybody', '<users/all>', '<·users/all>'],
  ['a person', 'Ask <users/123456>!', 'Ask <·users/123456>!'],
  ['everybody in code', '`<users/all>`', '`<·users/all>`'],
  ['everybody in a block of code', '```\n<users/all>\n```', '```\n<·users/all>\n```'],
  ['everybody as an address', '[a](<users/all>)', 'a (users/all)'],
  ['everybody as the name of a footnote', '[^<users/all>]: a', '[<·users/all>] a'],
];

describe('Google Chat', () => {
  itRenders('[M01] shows %s', texts, shown);
  itRenders('[M02] shows literally: %s', texts, literals);
  itRenders('[M05] notifies no one: %s', texts, mentions);

  it('[M05] keeps mentions, but not links, when the settings allow mentions', () => {
    expect(texts('<users/all> \\<https://e.org|a>', { mentions: 'live' })).toEqual([
      '<users/all> <·https://e.org|a>',
    ]);
  });

  it('[M03] counts bytes', () => {
    const parts = render('水'.repeat(50_000), GOOGLE_CHAT);
    expect(parts.map(({ text }) => Buffer.byteLength(text) <= 30_000)).not.toContain(false);
    expect(parts.map(({ text }) => text).join('')).toHaveLength(50_000);
    expect(parts).toHaveLength(5);
  });

  it('[M04] [M05] has a plain fallback that notifies no one', () => {
    const [part] = render('`<users/all>` **a**', GOOGLE_CHAT);
    expect(visible(part?.plain ?? '')).toBe('<·users/all> a');
  });

  it.each(['*a_ `~', '<*a', '<a*|'])('[M06] prints a very long line of %j', (pattern) => {
    const text = pattern.repeat(40_000);
    expect(printGoogleChat([createBoldLeaf(text)]).text.replaceAll(/[\u2060\u200b]/g, '')).toBe(
      text,
    );
  });
});
