import { setImmediate } from 'node:timers/promises';
import type { RenderTarget } from '@parley/core';
import { renderInSteps } from '@parley/markup';
import { WEB } from './web/front.ts';

/** A part of an answer as it was sent, in the dialect of its platform. */
export interface SentText {
  readonly text: string;
  readonly target: RenderTarget;
}

/**
 * A part of an answer as HTML for the page. `markdown`: the whole answer, where the history has it. The first part
 * shows all of it; a later one, which the first one shows, is empty. Null: only the plain text is known.
 */
export async function htmlOfPart(
  { text, target }: SentText,
  markdown: string | undefined,
): Promise<string | null> {
  if (target.dialect === 'html') return text;
  if (markdown !== undefined) {
    const sent = await renderInSteps(markdown, target, setImmediate);
    const place = sent.findIndex((part) => part.text === text);
    // Commands that the answer held were taken out, or the platform prints it in another way today.
    if (place !== -1) return place === 0 ? printed(markdown) : '';
  }
  return target.dialect === 'markdown' || target.dialect === 'discord' ? printed(text) : null;
}

async function printed(markdown: string): Promise<string> {
  const parts = await renderInSteps(markdown, WEB.target, setImmediate);
  return parts.map(({ text }) => text).join('');
}
