import { expect, it } from 'vitest';
import { render } from '../render.ts';

const show = (markdown: string) =>
  render(markdown, { dialect: 'telegram', maxLength: 4096, unit: 'utf16' })
    .map(({ text }) => text)
    .join('')
    .replaceAll('&gt;', '>');

const table: [what: string, markdown: string, shown: string][] = [
  ['a number without a space', '>50% of all\n>=18', '>50% of all\n>=18'],
  ['a number in an item', '- > 90: good\n- >50\n1. > 5 kg', '• > 90: good\n• >50\n1. > 5 kg'],
  ['prompts of Python', ">>> print('a')\na\n>>> 1 + 1", ">>> print('a')\na\n>>> 1 + 1"],
  ['quotes beside them', '>5%\n\n> a\n > b\n>c', '>5%\n\n<blockquote>a\nb\nc</blockquote>'],
  ['a quote of an item', '- >5\n- > a 5', '• >5\n•\n<blockquote>a 5</blockquote>'],
  ['quoted lists', '- >5\n- > 1. a', '• >5\n•\n<blockquote>1. a</blockquote>'],
  ['a number behind a space', '> 50 years', '<blockquote>50 years</blockquote>'],
  ['quotes in quotes', '>5\n\n> a\n> > b', '>5\n\n<blockquote>a\n> b</blockquote>'],
  ['a tab', '>5\n\n> a\n>\tb', '>5\n\n<blockquote>a\nb</blockquote>'],
];

it.each(table)('[M01] distinguishes a greater-than sign from a quote: %s', (_, markdown, shown) => {
  expect(show(markdown)).toBe(shown);
});
