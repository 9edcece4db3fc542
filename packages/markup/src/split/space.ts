import type { Leaf } from '../document.ts';
import type { CutBefore } from './graphemes.ts';

/** What is left of a part for the leaf that comes next. */
export interface Space {
  /** How full the part would be with this beginning of the leaf; up to 1 it fits. */
  load(beginning: Leaf): number;
  /** How full a part with nothing but this stretch of the leaf would be. */
  loadAlone(stretch: Leaf): number;
  /** More UTF-16 units than any part can hold. */
  readonly window: number;
  /** Whether the part has nothing in it, so that the leaf has to begin here. */
  readonly isEmpty: boolean;
  /** Where a text may be cut at all. */
  cutsIn(text: string): CutBefore;
}
