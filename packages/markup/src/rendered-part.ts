import { ParleyError, type RenderTarget } from '@parley/core';

// Separate from the parser and the printers, which startup does not load.

/** One message. */
export interface RenderedPart {
  /** In the target's dialect. */
  readonly text: string;
  /**
   * The visible text of `text`, for a platform that refuses it; link addresses are written out if
   * there is room.
   */
  readonly plain: string;
  /**
   * The same content as a Telegram rich message, for a target that wants one and a text that needs
   * it.
   */
  readonly rich?: string;
}

/** Thrown for a target that no text can be printed for; never because of the Markdown. */
export class MarkupError extends ParleyError {}

/** Joins the texts of some parts, for a place without a limit that shows parts as they arrive. */
export function joinParts(
  parts: readonly RenderedPart[],
  dialect: RenderTarget['dialect'],
): string {
  return parts.map(({ text }) => text).join(dialect === 'html' ? '' : '\n\n');
}
