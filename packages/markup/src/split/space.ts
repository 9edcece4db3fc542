import type { Leaf } from '../document.ts';

/** What is left of a part for the leaf that comes next. */
export interface Space {
  /** How full the part would be with this head of the leaf; up to 1 it fits. */
  load(head: Leaf): number;
  /** How full a part with nothing else would be. */
  loadAlone(head: Leaf): number;
  /** More UTF-16 units than any part can hold. */
  readonly window: number;
  /** Whether words, links and lines of code may be torn: never, if no part can hold them, always. */
  readonly mayTear: 'never' | 'too-long' | 'always';
  readonly graphemes: Intl.Segmenter;
}
