import type { Formats } from './expected.ts';
import type { FormatRule } from './program.ts';

/** How a dialect shows things, as far as people see it, and how much room there is. */
export interface Manner {
  /** Which formats text of the source may be seen with; undefined: any. */
  readonly formats: (formats: Formats) => FormatRule | undefined;
  /** Whether an address is behind its text, else it is written out; or written if there is room. */
  readonly addresses: ((url: string) => boolean) | 'optional';
  /** Whether the text of a link may be linked in part, with the address behind that part. */
  readonly linksInPieces: boolean;
  /** The same for every way in which the dialect may write this address behind a text. */
  readonly addressForm: (url: string) => string;
  /** Bullets that the printer draws. */
  readonly bullets: readonly string[];
  /** `native`: tables keep their formats. */
  readonly tables: 'native' | 'grid';
  /** Written between the cells of a row. */
  readonly cellSeparator?: string;
  /**
   * Room enough: bullets, numbers and repeated table headers are never left out, and what people
   * see as one character is never cut.
   */
  readonly roomy: boolean;
  /** Whether something of this length must not be cut. */
  readonly keepsWhole: (length: number) => boolean;
}
