import { describe, expect, it } from 'vitest';
import { renderPrefix } from './render-prefix.ts';

const show = (markdown: string, maxLength = 4096) =>
  renderPrefix(markdown, { dialect: 'telegram', maxLength, unit: 'utf16' });

describe('an unfinished answer', () => {
  it.each([
    ['an open mark', 'a **b', 'a <b>b</b>'],
    ['a mark just begun', 'a **', 'a'],
    ['a mark half closed', '**a*', '<b>a</b>'],
    ['marks in marks', '**a *b', '<b>a <i>b</i></b>'],
    ['an open code span', 'a `b*', 'a <code>b*</code>'],
    ['an open strike', '~~a', '<s>a</s>'],
    ['half a link text', 'see [the do', 'see the do'],
    ['half an address', 'see [docs](https://e.or', 'see docs'],
    ['half an image', '![alt](https://e', 'alt'],
    ['an open code block', '```js\nlet a', '<pre><code class="language-js">let a</code></pre>'],
    ['a code block about to close', '```\na\n``', '<pre>a</pre>'],
    ['a fence just begun', 'a\n``', 'a'],
    ['a bullet without text', 'a\n-', 'a'],
    ['a number without text', '1. a\n2.', '1. a'],
    ['an open mark in a list item', '- **a**\n- **b', '• <b>a</b>\n• <b>b</b>'],
    ['names with underscores', 'a_b', 'a_b'],
    ['a product', '2 * 3', '2 * 3'],
    ['an escaped mark', 'a \\*b', 'a *b'],
    ['nothing yet', '', ''],
  ])('shows %s sensibly', (_, markdown, html) => {
    expect(show(markdown)).toBe(html);
  });

  it('shows the last part of what is too long', () => {
    expect(show('aaaa bbbb cccc dddd **eeee', 20)).toBe('<b>eeee</b>');
  });
});
