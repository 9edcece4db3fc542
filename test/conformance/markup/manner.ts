import type { Formats } from './expected.ts';
import type { FormatRule } from './program.ts';

/** The visible conventions of a dialect, and how much space is available. */
export interface Manner {
  /** The formats with which text of the source may be seen; undefined for any. */
  readonly formats: (formats: Formats) => FormatRule | undefined;
  /**
   * Whether an address is the target of its text; otherwise it is written out. `optional` means
   * written out if it fits.
   */
  readonly addresses: ((url: string) => boolean) | 'optional';
  /**
   * Whether only a piece of a link's text may be linked, with the address as the target of that
   * piece.
   */
  readonly linksInPieces: boolean;
  /** Normalizes all ways in which the dialect may write this address as a target. */
  readonly addressForm: (url: string) => string;
  /** Bullets that the printer draws. */
  readonly bullets: readonly string[];
  /** In `native` tables, cells keep their formats. */
  readonly tables: 'native' | 'grid';
  /** The separator between the cells of a row. */
  readonly cellSeparator?: string;
  /**
   * With enough space, bullets, numbers and repeated table headers are never left out, and grapheme
   * clusters are never split.
   */
  readonly roomy: boolean;
  /** Whether something of this length must not be split. */
  readonly keepsWhole: (length: number) => boolean;
}
