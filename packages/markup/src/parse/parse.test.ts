import { describe, expect, it } from 'vitest';
import { render } from '../render.ts';
import { collectDefinitions } from './parse.ts';

const filler = `${'word '.repeat(1_000).trim()}\n\n`;
const html = (markdown: string) =>
  render(markdown, { dialect: 'html', maxLength: 200_000, unit: 'utf16' })
    .map(({ text }) => text)
    .join('');
const long = (before: string, after: string) => html(`${before}\n\n${filler.repeat(8)}${after}`);

describe('definitions in another piece', () => {
  it('[M01] turn references into links', () => {
    expect(long('[a] [b]', '[a]: https://e.org')).toContain('href="https://e.org"');
  });

  it('[M01] turn references into footnotes, whose text is shown once', () => {
    const shown = long('a[^n] b[^m]', '[^n]: note');
    expect(shown).toContain('<p>a[n] b[^m]</p>');
    expect(shown.split('[n] note')).toHaveLength(2);
  });

  it('do not affect a piece that begins with indented text', () => {
    const shown = html(`[^n]: note\n\n\`\`\`\n${'code\n'.repeat(5_000)}\`\`\`\n    text[^n]`);
    expect(shown).toMatch(/text\[\^n\]<\/code><\/pre>$/);
  });

  it('are limited in number', () => {
    const text = Array.from({ length: 10_000 }, (_, index) => `[${index}]: u\n`).join('');
    expect(collectDefinitions([{ type: 'markdown', text }]).length).toBeLessThan(5_000);
  });
});
