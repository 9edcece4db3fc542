import { createRequire } from 'node:module';
import type { RenderTarget } from '@parley/contracts';
import type { PrefixRenderer } from './prefix-renderer.ts';
import type { RenderedPart } from './rendered-part.ts';

export type { RenderTarget } from '@parley/contracts';
export type { PrefixRenderer, ShownPrefix } from './prefix-renderer.ts';
export type { RenderedPart } from './rendered-part.ts';
export { joinParts, MarkupError } from './rendered-part.ts';

const require = createRequire(import.meta.url);

/*
 * The parser and the printers are many modules, so they are loaded on the first call: a start does not
 * wait for them. With `require` where the call is synchronous.
 */

/** `render` of `render.ts`. */
export function render(markdown: string, target: RenderTarget): RenderedPart[] {
  const loaded: typeof import('./render.ts') = require('./render.ts');
  return loaded.render(markdown, target);
}

/** `renderInSteps` of `render.ts`. */
export async function renderInSteps(
  markdown: string,
  target: RenderTarget,
  pause: () => Promise<void>,
): Promise<RenderedPart[]> {
  const loaded = await import('./render.ts');
  return loaded.renderInSteps(markdown, target, pause);
}

/** `createPrefixRenderer` of `prefix-renderer.ts`; made by the first `show`, since most answers are never shown growing. */
export function createPrefixRenderer(target: RenderTarget): PrefixRenderer {
  let renderer: PrefixRenderer | undefined;
  let unread = '';
  return {
    push(text) {
      unread += text;
    },
    show() {
      if (renderer === undefined) {
        const loaded: typeof import('./prefix-renderer.ts') = require('./prefix-renderer.ts');
        renderer = loaded.createPrefixRenderer(target);
      }
      renderer.push(unread);
      unread = '';
      return renderer.show();
    },
  };
}
