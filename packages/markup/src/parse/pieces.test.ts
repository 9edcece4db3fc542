import { describe, expect, it } from 'vitest';
import { runAllSteps } from '../steps.ts';
import { splitMarkdown } from './pieces.ts';

const filler = `${'word '.repeat(200).trim()}.\n\n`;
const long = filler.repeat(20);

describe('cutting the source', () => {
  it('keeps an ordinary answer in one piece', () => {
    const markdown = '# A\n\n- b\n\n```js\nc\n```\n';
    expect(runAllSteps(splitMarkdown(markdown))).toEqual([{ type: 'markdown', text: markdown }]);
  });

  it('[M06] cuts long text between blocks, into pieces that join to the source', () => {
    const pieces = runAllSteps(splitMarkdown(long));
    expect(pieces.length).toBeGreaterThan(1);
    expect(pieces.every(({ type, text }) => type === 'markdown' && text.length <= 16_000)).toBe(
      true,
    );
    expect(pieces.map(({ text }) => text).join('\n')).toBe(long);
  });

  it('never cuts inside a code block, however many empty lines it has', () => {
    const code = 'x\n\n'.repeat(8_000);
    const pieces = runAllSteps(splitMarkdown(`${filler}~~~ py\n${code}~~~\n${filler}`));
    expect(pieces.map(({ type }) => type)).toEqual(['markdown', 'code', 'markdown']);
    expect(pieces[1]).toEqual({ type: 'code', language: 'py', text: code.slice(0, -1) });
  });

  it('never cuts inside a list item', () => {
    const item = `1. a\n\n   ${filler.trim()}\n\n   ${filler}`;
    const pieces = runAllSteps(splitMarkdown(item.repeat(10)));
    expect(pieces.length).toBeGreaterThan(1);
    expect(pieces.every(({ text }) => text.startsWith('1. a'))).toBe(true);
  });

  it.each([
    ['emphasis that never closes', 'a**b'.repeat(20_000)],
    ['brackets', '['.repeat(80_000)],
    ['lists in lists', '- '.repeat(500)],
    ['indented lists', Array.from({ length: 500 }, (_, i) => `${'  '.repeat(i)}- x`).join('\n')],
    ['quotes in quotes', '> '.repeat(500)],
    ['character references', '&a;'.repeat(20_000)],
    ['one endless line', 'word '.repeat(16_000)],
  ])('[M06] shows %s as written instead of parsing it', (_, hostile) => {
    expect(runAllSteps(splitMarkdown(hostile))).toEqual([{ type: 'literal', text: hostile }]);
  });

  it('[M06] still parses the text next to a hostile block', () => {
    const pieces = runAllSteps(
      splitMarkdown(`**before**\n\n${'a**b'.repeat(20_000)}\n\n**after**`),
    );
    expect(pieces.map(({ type }) => type)).toEqual(['markdown', 'literal', 'markdown']);
  });

  it('[M06] parses only a bounded amount of one document', () => {
    const pieces = runAllSteps(splitMarkdown('- x\n'.repeat(500_000)));
    const parsed = pieces.filter(({ type }) => type === 'markdown');
    expect(parsed.reduce((sum, { text }) => sum + text.length, 0)).toBeLessThan(200_000);
  });
});

const item = `1. a\n   \`\`\`js\n   ${'code;'.repeat(20)}\n   \`\`\`\n`;
const paragraph = `${'word '.repeat(200).trim()}.\n\n`;

const growing: [what: string, markdown: string][] = [
  ['paragraphs', paragraph.repeat(40)],
  ['list items with code', item.repeat(300)],
  ['a code block', `Look:\n\n\`\`\`js\n${'let a = 1;\n'.repeat(3_000)}\`\`\`\n\nThere.`],
  ['a table', `| a |\n|---|\n${'| some cell |\n'.repeat(3_000)}\nThere.`],
  ['a list', '- some item\n'.repeat(3_000)],
];

describe('growing text', () => {
  it.each(growing)('[F12] keeps the pieces of %s, however the text continues', (_, markdown) => {
    const whole = runAllSteps(splitMarkdown(markdown));
    const half = runAllSteps(splitMarkdown(markdown.slice(0, markdown.length / 2)));
    expect(half.slice(0, -1)).toEqual(whole.slice(0, half.length - 1));
  });

  it('keeps a short code block with its list item in a long document', () => {
    const pieces = runAllSteps(splitMarkdown(item.repeat(200)));
    expect(pieces.length).toBeGreaterThan(1);
    expect(pieces.every(({ type }) => type === 'markdown')).toBe(true);
  });
});
