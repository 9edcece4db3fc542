import { BoundedMap } from '@parley/contracts';
import { type Piece, piecesOf } from './passages.ts';

/** The pieces of files that were read a moment ago. */
export interface PieceCache {
  /** The pieces of this very text; it is compared, so whoever has the text may have its pieces. */
  of(name: string, text: string): readonly Piece[];
}

/** Large files whose pieces are kept; what is asked for longest ago makes room. */
const FILES = 32;
/** Shorter files are cut as fast as they are found here, in characters. */
const SHORT = 8_000;

/** An empty one. */
export function pieceCache(): PieceCache {
  const known = new BoundedMap<
    string,
    { readonly text: string; readonly pieces: readonly Piece[] }
  >(FILES);
  return {
    of(name, text) {
      if (text.length < SHORT) return piecesOf(name, text);
      const before = known.get(name);
      const pieces = before?.text === text ? before.pieces : piecesOf(name, text);
      known.set(name, { text, pieces });
      return pieces;
    },
  };
}
