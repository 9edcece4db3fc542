import type { RenderTarget } from '@parley/core';
import type { RenderedPart } from '@parley/markup';

/** One message as an app would show it. */
export interface MessageBubble {
  /** The content of the message bubble. */
  readonly html: string;
  /** The size of the message, in the unit of the platform's limit. */
  readonly length: number;
}

/** One column of the page. */
export interface GalleryScreen {
  /** The CSS class of the bubbles. */
  readonly id: string;
  readonly name: string;
  readonly target: RenderTarget;
  /** Draws a part. Throws when the platform's strict parser rejects the part. */
  draw(part: RenderedPart): MessageBubble;
}
