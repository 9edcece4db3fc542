import { describe, expect, it } from 'vitest';
import type { FormattedLine, Inline } from '../formatting/marked-lines.ts';
import { parseWhatsApp } from './parse-formatting.ts';

const TAG = {
  bold: 'b',
  italic: 'i',
  strike: 's',
  code: 'c',
  monospace: 'm',
  url: 'u',
  link: 'l',
} as const;

/** A compact form of the tree: `<b>…</b>` and so on, and line prefixes `> `, `- `, `1. `. */
function sketch(text: string): string {
  return parseWhatsApp(text).lines.map(sketchLine).join('\n');
}

function sketchLine(line: FormattedLine): string {
  const prefix = { paragraph: '', quote: '[quote]', bullet: '[item]', number: '[number]' };
  return prefix[line.kind] + line.children.map(sketchInline).join('');
}

function sketchInline(inline: Inline): string {
  if (inline.type === 'text') return inline.text;
  const inside = 'text' in inline ? inline.text : inline.children.map(sketchInline).join('');
  return `<${TAG[inline.type]}>${inside}</${TAG[inline.type]}>`;
}

const shown: [what: string, text: string, tree: string][] = [
  ['each mark', '*b* _i_ ~s~ `c` ```m```', '<b>b</b> <i>i</i> <s>s</s> <c>c</c> <m>m</m>'],
  ['nested marks', '*_x_ y* _~*z*~_', '<b><i>x</i> y</b> <i><s><b>z</b></s></i>'],
  ['marks next to punctuation', '(*a*), "_b_"!', '(<b>a</b>), "<i>b</i>"!'],
  ['no mark inside a word', 'a*b*c snake_case_name', 'a*b*c snake_case_name'],
  ['no mark next to white space inside', '2 * 3 * 4 _ a_', '2 * 3 * 4 _ a_'],
  ['no mark across lines', '*a\nb*', '*a\nb*'],
  ['no mark in code', '`*a*` ```_b_```', '<c>*a*</c> <m>_b_</m>'],
  ['no mark in a URL', 'https://e.org/_a_/*b* _c_', '<u>https://e.org/_a_/*b*</u> <i>c</i>'],
  ['no mark in a host name with a path', 'e.org/_a_ _c_', '<u>e.org/_a_</u> <i>c</i>'],
  ['no mark after a word joiner', '\u2060*a* _b_\u2060', '\u2060*a* _b_\u2060'],
  ['code around a URL', '`see https://e.org/_a_`', '<c>see https://e.org/_a_</c>'],
  ['no empty mark', '** __ ~~ ``', '** __ ~~ ``'],
  ['monospace across lines', 'a ```b\n> c\n- d``` e', 'a <m>b\n> c\n- d</m> e'],
  ['quotes', '> a\n>b\n>  c', '[quote]a\n>b\n>  c'],
  ['items', '- a\n* b\n-c\n - d\n- ', '[item]a\n[item]b\n-c\n - d\n- '],
  ['numbers', '1. a\n15. b\n100. c\n1) d', '[number]a\n[number]b\n100. c\n1) d'],
  ['marks in quotes and list items', '> *a*\n- _b_', '[quote]<b>a</b>\n[item]<i>b</i>'],
];

const wrong: [kind: string, text: string, part: string][] = [
  ['heading', 'a\n## b', '## b'],
  ['table', '| a | b |\n|---|---|', '|---|---|'],
  ['link', 'see [a](https://e.org)', '[a](https://e.org)'],
  ['marker', 'a **b c** d', '**b c**'],
  ['marker', '~~a~~', '~~a~~'],
  ['fence', '```a', '```'],
  ['ambiguous', '中*a*', '*a*'],
  ['ambiguous', '👍*a*', '*a*'],
  ['ambiguous', '*a *b*', '*a *b*'],
  ['ambiguous', 'a`b`c', '`b`'],
  ['ambiguous', '*see https://e.org*', '*see https://e.org*'],
  ['ambiguous', '*a _b* c_', '*a _b* c_'],
  ['ambiguous', '>  a', '>  a'],
  ['ambiguous', '> ```a\nb```', '> ```a\nb```'],
];

describe('the parser of WhatsApp formatting', () => {
  it.each(shown)('[M01] parses %s', (_, text, tree) => {
    expect(sketch(text)).toBe(tree);
  });

  it.each(wrong)('[M01] reports the violation %s: %j', (kind, text, part) => {
    expect(parseWhatsApp(text).violations).toContainEqual({ kind, text: part });
  });

  it.each(shown.filter(([what]) => !/quotes$|items$|empty|white space/.test(what)))(
    '[M01] reports no violation in %s',
    (_, text) => {
      expect(parseWhatsApp(text).violations).toEqual([]);
    },
  );

  it('[M01] accepts marker characters that are meant as plain text', () => {
    expect(parseWhatsApp('use **b**', 'use **b**').violations).not.toContainEqual(
      expect.objectContaining({ kind: 'marker' }),
    );
  });

  it('[M01] returns the visible text with the formatting of each run', () => {
    const { visible, runs } = parseWhatsApp('> *a _b_*\n- c\n2. ~d~');
    expect(visible).toBe('a b\n• c\n2. d');
    expect(runs).toEqual([
      { text: 'a ', formats: ['quote', 'bold'] },
      { text: 'b', formats: ['quote', 'bold', 'italic'] },
      { text: 'c', formats: ['bullet'] },
      { text: 'd', formats: ['number', 'strike'] },
    ]);
  });
});
