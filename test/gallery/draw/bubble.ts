import type { RenderTarget } from '@parley/core';
import type { RenderedPart } from '@parley/markup';

/** One message as an app would show it. */
export interface Bubble {
  /** What stands in the bubble. */
  readonly html: string;
  /** What the platform counts of it, in its unit. */
  readonly length: number;
}

/** One column of the page. */
export interface Screen {
  /** Class of its bubbles. */
  readonly id: string;
  readonly name: string;
  readonly target: RenderTarget;
  /** Draws a part. Throws when the strict parser of the platform does not like it. */
  draw(part: RenderedPart): Bubble;
}
