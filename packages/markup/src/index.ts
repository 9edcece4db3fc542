import { createRequire } from 'node:module';
import { setImmediate } from 'node:timers/promises';
import type { RenderTarget } from '@parley/core';
import { renderMarkdownUnchanged } from './as-written.ts';
import type * as Render from './render.ts';
import type { RenderedPart } from './rendered-part.ts';
import { completeMarkdown } from './unfinished.ts';

export type { RenderTarget } from '@parley/core';
export type { PrintedTarget } from './capabilities.ts';
export type { RenderedPart } from './rendered-part.ts';
export { joinParts, MarkupError } from './rendered-part.ts';

const require = createRequire(import.meta.url);

/*
 * The parser and the printers are many modules, so they are loaded on the first call instead of at
 * startup. The loaded modules are kept, because each `import()` or `require` of a loaded module
 * costs as much as a short answer.
 */
const renderModule = loadOnce((): typeof Render => require('./render.ts'));

function loadOnce<Module>(load: () => Module): () => Module {
  let loaded: Module | undefined;
  return () => {
    loaded ??= load();
    return loaded;
  };
}

export function render(markdown: string, target: RenderTarget): RenderedPart[] {
  return renderModule().render(markdown, target);
}

export async function renderInSteps(
  markdown: string,
  target: RenderTarget,
  pause: () => Promise<void>,
): Promise<RenderedPart[]> {
  return renderModule().renderInSteps(markdown, target, pause);
}

export interface PrefixRenderer {
  /** Only stores the text; rendering starts when `show` is called. */
  push(text: string): void;
  /** The answer so far as unnumbered parts, with incomplete markup at its end completed. */
  show(): Promise<readonly RenderedPart[]>;
}

/** Creates a renderer for one answer that arrives in pieces. */
export function createPrefixRenderer(target: RenderTarget): PrefixRenderer {
  let text = '';
  return {
    push(more) {
      text += more;
    },
    async show() {
      if (target.dialect === 'markdown') return renderMarkdownUnchanged(text, target);
      const { numbered: _unknownYet, ...unnumbered } = target;
      return renderModule().renderInSteps(completeMarkdown(text), unnumbered, () => setImmediate());
    },
  };
}
