import { type Audience, mayRead, type PromptPart, type Reader } from '@parley/contracts';

/**
 * The audience of a text made from several parts. One part that the reader may not see is enough to
 * withhold the whole: that is a defect of whoever gave it, and must not pass unseen.
 */
export function narrowestAudience(
  parts: readonly Pick<PromptPart, 'audience'>[],
  reader: Reader,
): Audience {
  const audiences = parts.map(({ audience }) => audience);
  return (
    audiences.find((audience) => !mayRead(reader, audience)) ??
    audiences.find(({ kind }) => kind === 'owner') ??
    audiences.find(({ kind }) => kind === 'conversation') ?? { kind: 'everyone' }
  );
}
