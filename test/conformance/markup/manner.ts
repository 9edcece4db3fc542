import type { Formats } from './expected.ts';
import type { FormatRule } from './program.ts';

/** The visible conventions of a dialect and the available space. */
export interface DialectManner {
  /** The formats in which source text may be shown; undefined for any. */
  readonly formats: (formats: Formats) => FormatRule | undefined;
  /**
   * Whether an address is the target of its text; otherwise the address is written out. `optional`
   * writes the address out only if it fits.
   */
  readonly addresses: ((url: string) => boolean) | 'optional';
  /**
   * Whether only a piece of the link text may be linked, with the address as the target of that
   * piece.
   */
  readonly linksInPieces: boolean;
  /** Normalizes all forms in which the dialect may write this address as a target. */
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
  /** Whether a block of this length must not be split. */
  readonly keepsWhole: (length: number) => boolean;
}
