import type { InboundMessage, RenderTarget } from '@parley/contracts';

/** Pictures of an album, and pieces of a long paste, arrive within about a second of each other. */
const MORE_WITHIN_MS = 1_000;

/** A text this near to the longest (in parts of 1) may be a paste that the platform cut into pieces. */
const NEARLY_FULL = 0.9;

/**
 * Until when (ms) more of the same burst may arrive, so that no turn takes the beginning alone (F08);
 * undefined for all other messages, which nothing delays.
 */
export function settlesAt(
  { albumId, text }: Pick<InboundMessage, 'albumId' | 'text'>,
  { maxLength }: Pick<RenderTarget, 'maxLength'>,
  receivedAt: number,
): number | undefined {
  const isBurst = albumId !== undefined || text.length >= maxLength * NEARLY_FULL;
  return isBurst ? receivedAt + MORE_WITHIN_MS : undefined;
}
