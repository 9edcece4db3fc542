import { ParleyError, type RenderTarget } from '@parley/core';

// This module is separate from the parser and the printers, which are not loaded at startup.

export interface RenderedPart {
  readonly text: string;
  /**
   * The visible text of `text`, for a platform that refuses the markup; link URLs are written out
   * if they fit.
   */
  readonly plain: string;
  /**
   * The same content as a Telegram rich message, for a target that requests one and text that
   * benefits from it.
   */
  readonly rich?: string;
}

/** Thrown when a target cannot hold any text; the Markdown never causes this error. */
export class MarkupError extends ParleyError {}

/**
 * Joins the text of consecutive parts, for a destination without a length limit that shows parts as
 * they arrive.
 */
export function joinParts(
  parts: readonly RenderedPart[],
  dialect: RenderTarget['dialect'],
): string {
  return parts.map(({ text }) => text).join(dialect === 'html' ? '' : '\n\n');
}
