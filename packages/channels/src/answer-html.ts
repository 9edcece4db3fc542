import { setImmediate } from 'node:timers/promises';
import type { RenderTarget } from '@parley/core';
import { renderInSteps } from '@parley/markup';
import { WEB } from './web/front.ts';

/** A part of an answer as it was sent, in its platform's dialect. */
export interface SentText {
  readonly text: string;
  readonly target: RenderTarget;
}

/**
 * Renders a part of an answer as HTML for the page. `markdown` is the whole answer, if the history
 * has it. The first part then shows the whole answer, and the later parts included in it are empty.
 * Null when only the plain text is known.
 */
export async function renderPartHtml(
  { text, target }: SentText,
  markdown: string | undefined,
): Promise<string | null> {
  if (target.dialect === 'html') return text;
  if (markdown !== undefined) {
    const sent = await renderInSteps(markdown, target, setImmediate);
    const place = sent.findIndex((part) => part.text === text);
    // Either commands were removed from the answer, or the platform's printer has changed since.
    if (place !== -1) return place === 0 ? printMarkdown(markdown) : '';
  }
  return target.dialect === 'markdown' || target.dialect === 'discord' ? printMarkdown(text) : null;
}

async function printMarkdown(markdown: string): Promise<string> {
  const parts = await renderInSteps(markdown, WEB.target, setImmediate);
  return parts.map(({ text }) => text).join('');
}
