import { ParleyError, type RenderTarget } from '@parley/core';

// Apart from what parses and prints, which a start does not load (light-start).

/** One message. */
export interface RenderedPart {
  /** In the target's dialect. */
  readonly text: string;
  /** The visible text of `text`, for a platform that refuses it; link addresses are written out if there is room. */
  readonly plain: string;
  /** The same as a rich message of Telegram, for a target that wants one and a text that needs it. */
  readonly rich?: string;
}

/** Thrown for a target that no text can be printed for; never because of the Markdown. */
export class MarkupError extends ParleyError {}

/** The texts of some parts as one, for a place without a limit that shows parts while they come. */
export function joinParts(
  parts: readonly RenderedPart[],
  dialect: RenderTarget['dialect'],
): string {
  return parts.map(({ text }) => text).join(dialect === 'html' ? '' : '\n\n');
}
