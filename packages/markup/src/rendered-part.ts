import { ParleyError, type RenderTarget } from '@parley/core';

// Kept separate from the parser and the printers, which are not loaded at startup.

/** One message. */
export interface RenderedPart {
  /** In the target's dialect. */
  readonly text: string;
  /**
   * The visible text of `text`, for a platform that refuses it; link URLs are written out if there
   * is space.
   */
  readonly plain: string;
  /**
   * The same content as a Telegram rich message, for a target that requests one and a text that
   * needs it.
   */
  readonly rich?: string;
}

/** Thrown for a target for which no text can be printed; never because of the Markdown. */
export class MarkupError extends ParleyError {}

/**
 * Joins the texts of some parts, for a destination without a length limit that shows parts as they
 * arrive.
 */
export function joinParts(
  parts: readonly RenderedPart[],
  dialect: RenderTarget['dialect'],
): string {
  return parts.map(({ text }) => text).join(dialect === 'html' ? '' : '\n\n');
}
