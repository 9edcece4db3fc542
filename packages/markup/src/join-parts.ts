import type { RenderTarget } from '@parley/contracts';
import type { RenderedPart } from './render-part.ts';

/** The texts of some parts as one, for a place without a limit that shows parts while they come. */
export function joinParts(
  parts: readonly RenderedPart[],
  dialect: RenderTarget['dialect'],
): string {
  return parts.map(({ text }) => text).join(dialect === 'html' ? '' : '\n\n');
}
