import type { RenderTarget } from '@parley/core';
import { render } from '@parley/markup';
import { describe, expect, it } from 'vitest';
import { renderPartHtml } from './answer-html.ts';

const TABLE = 'The **7:32** is the fastest:\n\n| leaves | arrives |\n|---|---|\n| 7:32 | 9:20 |';

const targetOf = (dialect: RenderTarget['dialect'], maxLength = 4_000): RenderTarget => ({
  dialect,
  maxLength,
  unit: 'utf16',
});

describe('a part of an answer on the page', () => {
  it.each(['telegram', 'discord', 'whatsapp', 'plain', 'markdown'] as const)(
    "[U08] that was sent as %s is shown as the page's chat shows it",
    async (dialect) => {
      const target = targetOf(dialect);
      const [part] = render(TABLE, target);
      const html = await renderPartHtml({ text: part?.text ?? '', target }, TABLE);
      expect(html).toContain('<strong>7:32</strong>');
      expect(html).toContain('<table>');
    },
  );

  it('[U08] shows the whole answer in its first part, and nothing twice', async () => {
    const target = targetOf('telegram', 64);
    const markdown = `${'one two three four five six seven eight. '.repeat(4)}**end**`;
    const parts = render(markdown, target);
    expect(parts.length).toBeGreaterThan(1);
    const shown = await Promise.all(
      parts.map(({ text }) => renderPartHtml({ text, target }, markdown)),
    );
    expect(shown[0]).toContain('<strong>end</strong>');
    expect(shown.slice(1).every((html) => html === '')).toBe(true);
  });

  it('[U08] is plain text when the history does not contain the answer, or contains a different one', async () => {
    const target = targetOf('telegram');
    expect(await renderPartHtml({ text: 'a &lt; b', target }, undefined)).toBeNull();
    expect(await renderPartHtml({ text: 'a notice', target }, TABLE)).toBeNull();
  });

  it('[U08] never contains a tag that a person or a model wrote', async () => {
    const target = targetOf('discord');
    const html = await renderPartHtml(
      { text: '<img src=x onerror=alert(1)> **b**', target },
      undefined,
    );
    expect(html).not.toContain('<img');
    expect(html).toContain('<strong>b</strong>');
  });
});
