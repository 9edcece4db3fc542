import type { RenderTarget } from '@parley/core';
import { render, renderInSteps } from '@parley/markup';
import { describe, expect, it } from 'vitest';
import { createAnswerPrinter } from './answer-html.ts';

const TABLE = 'The **7:32** is the fastest:\n\n| leaves | arrives |\n|---|---|\n| 7:32 | 9:20 |';

const targetOf = (dialect: RenderTarget['dialect'], maxLength = 4_000): RenderTarget => ({
  dialect,
  maxLength,
  unit: 'utf16',
});

const { htmlOfPart } = createAnswerPrinter();

describe('a message part on the page', () => {
  it.each(['telegram', 'discord', 'whatsapp', 'slack', 'gfm', 'plain', 'markdown'] as const)(
    '[U08] is rendered as in the chat if it was sent as %s',
    async (dialect) => {
      const target = targetOf(dialect);
      const [part] = render(TABLE, target);
      const html = await htmlOfPart({ text: part?.text ?? '', target }, TABLE);
      expect(html).toContain('<strong>7:32</strong>');
      expect(html).toContain('<table>');
    },
  );

  it('[U08] shows the whole answer if it is the first part, and later parts do not repeat text', async () => {
    const target = targetOf('telegram', 64);
    const markdown = `${'one two three four five six seven eight. '.repeat(4)}**end**`;
    const parts = render(markdown, target);
    expect(parts.length).toBeGreaterThan(1);
    const shown = await Promise.all(
      parts.map(({ text }) => htmlOfPart({ text, target }, markdown)),
    );
    expect(shown[0]).toContain('<strong>end</strong>');
    expect(shown.slice(1).every((html) => html === '')).toBe(true);
  });

  it('[U08] is plain text when the history does not contain the answer, or contains a different one', async () => {
    const target = targetOf('telegram');
    expect(await htmlOfPart({ text: 'a &lt; b', target }, undefined)).toBeNull();
    expect(await htmlOfPart({ text: 'a notice', target }, TABLE)).toBeNull();
  });

  it('[U08] is rendered once for all parts and viewers, and again when the answer changes', async () => {
    const rendered: string[] = [];
    const printer = createAnswerPrinter((markdown, target, pause) => {
      rendered.push(`${target.dialect} ${markdown.at(-1)}`);
      return renderInSteps(markdown, target, pause);
    });
    const target = targetOf('telegram', 64);
    const view = (markdown: string) => {
      const parts = render(markdown, target);
      expect(parts.length).toBeGreaterThan(1);
      return Promise.all(parts.map(({ text }) => printer.htmlOfPart({ text, target }, markdown)));
    };
    const answer = `${'one two three four five six seven eight. '.repeat(4)}`;
    const [first, second] = await Promise.all([view(`${answer}A`), view(`${answer}A`)]);
    expect(first?.[0]).toContain('eight. A');
    expect(second).toEqual(first);
    expect(await view(`${answer}A`)).toEqual(first);
    expect(rendered.toSorted()).toEqual(['html A', 'telegram A']);
    expect((await view(`${answer}B`))[0]).toContain('eight. B');
    expect(rendered.slice(2).toSorted()).toEqual(['html B', 'telegram B']);
  });

  it('[U08] never contains an HTML tag written by a person or the model', async () => {
    const target = targetOf('discord');
    const html = await htmlOfPart(
      { text: '<img src=x onerror=alert(1)> **b**', target },
      undefined,
    );
    expect(html).not.toContain('<img');
    expect(html).toContain('<strong>b</strong>');
  });
});
