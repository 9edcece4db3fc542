import { toLiteralMarkdown } from '@parley/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPrefixRenderer, render } from './index.ts';

const target = (maxLength: number, unit: 'utf16' | 'byte' = 'utf16') =>
  ({ dialect: 'markdown', maxLength, unit }) as const;

describe('Markdown for a program with its own renderer', () => {
  it('[M01] stays unchanged, including tables', () => {
    const markdown = '# A\n\n| a | b |\n|---|---|\n| **1** | `2` |\n\n@everyone <b>\n';
    expect(render(markdown, target(4_000))).toEqual([{ text: markdown, plain: markdown }]);
    expect(render(' \n', target(4_000))).toEqual([]);
  });

  it("[M01] contains Parley's own literal text with CommonMark escapes", () => {
    const [part] = render(`**Name**: ${toLiteralMarkdown('a_b &lt;\n# c')}`, target(4_000));
    expect(part?.text).toBe('**Name**: a\\_b \\&lt;\\\n\\# c');
  });

  it('[M03] stays within its length limit and does not lose a character', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 200 });
    fc.assert(
      fc.property(text, fc.constantFrom('utf16', 'byte'), (markdown, unit) => {
        const parts = render(markdown, target(16, unit)).map((part) => part.text);
        const length = (part: string) => (unit === 'byte' ? Buffer.byteLength(part) : part.length);
        expect(Math.max(0, ...parts.map(length))).toBeLessThanOrEqual(16);
        expect(parts.every((part) => part.isWellFormed())).toBe(true);
        expect(parts.join('').replaceAll(/\s/g, '')).toBe(markdown.replaceAll(/\s/g, ''));
      }),
    );
  });

  it('[F12] only grows while it is written', async () => {
    const growing = createPrefixRenderer(target(4_000));
    let before = '';
    for (const piece of ['Some **bo', 'ld** and\n\n```', 'js\nlet a', ';\n```']) {
      growing.push(piece);
      const now = (await growing.show()).map(({ text }) => text).join('');
      expect(now.startsWith(before)).toBe(true);
      before = now;
    }
    expect(before).toBe('Some **bold** and\n\n```js\nlet a;\n```');
  });
});
