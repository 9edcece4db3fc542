import type { RenderTarget } from '@parley/core';
import { expect, it } from 'vitest';
import { render } from '../render.ts';

/** Markdown, and the text that shows it on the platform. */
export type RenderCase = readonly [what: string, markdown: string, text: string];

type RenderTexts = (markdown: string, changes?: Partial<RenderTarget>) => string[];

export const lines = (...all: string[]) => all.join('\n');

/** Makes the word joiner and the zero-width space visible. */
export const visible = (text: string) => text.replaceAll('\u2060', '¦').replaceAll('\u200b', '·');

/** A function that returns the visible text of each part. */
export function createTextRenderer(target: RenderTarget): RenderTexts {
  return (markdown, changes) =>
    render(markdown, { ...target, ...changes }).map(({ text }) => visible(text));
}

/** Tests that the Markdown of each case becomes one part with its text. */
export function itRenders(title: string, texts: RenderTexts, cases: readonly RenderCase[]): void {
  it.each(cases)(title, (_, markdown, text) => {
    expect(texts(markdown)).toEqual([text]);
  });
}

/** Bold text as printers get it, of any length and without parsing. */
export function createBoldLeaf(text: string) {
  const runs = [{ text, marks: [{ type: 'bold' as const }] }];
  return { kind: 'text' as const, runs, within: [], fresh: 0, gap: 1 as const };
}
