import type { RenderTarget } from '@parley/contracts';
import { createPrefixRenderer } from './prefix-renderer.ts';

/**
 * Renders an answer that is still being written, cut anywhere, as one legal message: open code
 * blocks and marks are closed. An answer too long for one message shows its last part.
 * @returns the empty string while there is nothing to see.
 * @throws MarkupError as `render` does.
 */
export function renderPrefix(markdown: string, target: RenderTarget): string {
  const renderer = createPrefixRenderer(target);
  renderer.push(markdown);
  const { settled, open } = renderer.show();
  return [...settled, ...open].at(-1)?.text ?? '';
}
