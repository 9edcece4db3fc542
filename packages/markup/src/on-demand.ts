import { createRequire } from 'node:module';
import type { RenderTarget } from '@parley/contracts';
import type { PrefixRenderer } from './prefix-renderer.ts';
import type { RenderedPart } from './render-part.ts';

const require = createRequire(import.meta.url);

/*
 * What renders is a hundred modules; a start should not wait for them before anybody has asked
 * anything. Synchronous where rendering is. Node caches the modules.
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
