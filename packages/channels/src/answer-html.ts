import { setImmediate } from 'node:timers/promises';
import { BoundedMap, memoizeByText, type RenderTarget } from '@parley/core';
import { renderInSteps } from '@parley/markup';
import { WEB } from './web/front.ts';

/** A part of an answer as it was sent, in its platform's dialect. */
export interface SentText {
  readonly text: string;
  readonly target: RenderTarget;
}

export type AnswerPrinter = ReturnType<typeof createAnswerPrinter>;

/** How many targets are cached, and how many characters of Markdown for each. */
const MAX_TARGETS = 16;
const KEPT_CHARACTERS = 500_000;

const MARKDOWN: readonly RenderTarget['dialect'][] = ['markdown', 'gfm', 'teams', 'discord'];

/**
 * Renders parts of answers as HTML for the page. An answer is rendered once per target, however
 * many parts and viewers it has: after each change in a chat, all open pages read the answer again.
 */
export function createAnswerPrinter(render: typeof renderInSteps = renderInSteps) {
  const remembered = new BoundedMap<string, (markdown: string) => Promise<readonly string[]>>(
    MAX_TARGETS,
  );
  const renderTexts = (markdown: string, target: RenderTarget): Promise<readonly string[]> => {
    const key = JSON.stringify(target);
    const known =
      remembered.get(key) ??
      memoizeByText(async (text: string) => {
        const parts = await render(text, target, setImmediate);
        return parts.map((part) => part.text);
      }, KEPT_CHARACTERS);
    remembered.set(key, known);
    return known(markdown);
  };
  const print = async (markdown: string): Promise<string> =>
    (await renderTexts(markdown, WEB.target)).join('');
  return {
    /**
     * `markdown` is the whole answer, if the history contains it. The first part then shows the
     * whole answer, and later parts that the answer includes are empty. Null when only the plain
     * text is available.
     */
    async htmlOfPart(
      { text, target }: SentText,
      markdown: string | undefined,
    ): Promise<string | null> {
      if (target.dialect === 'html') return text;
      if (markdown !== undefined) {
        const index = (await renderTexts(markdown, target)).indexOf(text);
        // Either commands were removed from the answer, or the platform's printer has changed since.
        if (index !== -1) return index === 0 ? print(markdown) : '';
      }
      return MARKDOWN.includes(target.dialect) ? print(text) : null;
    },
  };
}
