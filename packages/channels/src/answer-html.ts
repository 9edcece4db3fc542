import { setImmediate } from 'node:timers/promises';
import { BoundedMap, type RenderTarget, rememberTexts } from '@parley/core';
import { renderInSteps } from '@parley/markup';
import { WEB } from './web/front.ts';

/** A part of an answer as it was sent, in its platform's dialect. */
export interface SentText {
  readonly text: string;
  readonly target: RenderTarget;
}

export type AnswerPrinter = ReturnType<typeof createAnswerPrinter>;

/** How many targets are kept, and for each of them the characters of Markdown. */
const MAX_TARGETS = 16;
const KEPT_CHARACTERS = 500_000;

/** The dialects that are nearly Markdown. */
const MARKDOWN: readonly RenderTarget['dialect'][] = ['markdown', 'gfm', 'teams', 'discord'];

/**
 * Renders parts of answers as HTML for the page. Each answer is rendered once for a target, however
 * many parts it has and however many people view it: each change in a chat makes all their pages
 * read it again.
 */
export function createAnswerPrinter(render: typeof renderInSteps = renderInSteps) {
  const remembered = new BoundedMap<string, (markdown: string) => Promise<readonly string[]>>(
    MAX_TARGETS,
  );
  /** The texts of the parts into which this Markdown is split. */
  const renderTexts = (markdown: string, target: RenderTarget): Promise<readonly string[]> => {
    const key = JSON.stringify(target);
    const known =
      remembered.get(key) ??
      rememberTexts(async (text: string) => {
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
     * Renders a part. `markdown` is the whole answer, if the history has it. The first part then
     * shows the whole answer, and the later parts included in it are empty. Null when only the plain
     * text is known.
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
