import type { Format } from './expected.ts';

/** A generated document and the words that must be visible, once each and in order. */
export interface SampleDocument {
  readonly markdown: string;
  readonly words: readonly string[];
  /**
   * Words of table headers, which are visible at least once, and repeated when a table continues in
   * another part.
   */
  readonly headers: readonly string[];
  /**
   * The formats of each word in the source; none for words in tables, whose grids have no
   * formatting.
   */
  readonly formats: ReadonlyMap<string, readonly WrittenFormat[]>;
}

/** `hard` means inside a word, or code with backticks, for which WhatsApp has no syntax. */
export type WrittenFormat = Format | 'hard';

/** Becomes a numbered word once the whole document is known, so that each word is unique. */
export const WORD = '\u0001';
/** The placeholder of a word in a table header. */
export const HEADER = '\u0002';
/** Follows a word whose formats are not compared. */
const UNFORMATTED = '\u0003';

/** One character per format, appended to the words that have the format. */
const SIGNS: readonly (readonly [sign: string, format: WrittenFormat])[] = [
  ['\ue001', 'bold'],
  ['\ue002', 'italic'],
  ['\ue003', 'strike'],
  ['\ue004', 'underline'],
  ['\ue005', 'spoiler'],
  ['\ue006', 'code'],
  ['\ue007', 'link'],
  ['\ue008', 'hard'],
];

/** Records that the words of this text have a format. */
export function markFormat(text: string, format: WrittenFormat): string {
  const sign = SIGNS.find(([, name]) => name === format)?.[0] ?? '';
  return text.replaceAll(WORD, WORD + sign);
}

/** Records that the formats of the words in this text are unknown. */
export function markUnformatted(text: string): string {
  return text.replaceAll(WORD, WORD + UNFORMATTED);
}

/** Numbers the words of a template. */
export function numberWords(template: string): SampleDocument {
  const words: string[] = [];
  const headers: string[] = [];
  const formats = new Map<string, WrittenFormat[]>();
  let markdown = '';
  let word = '';
  for (const character of template) {
    const format = SIGNS.find(([sign]) => sign === character)?.[1];
    if (character === WORD) {
      word = `w${words.length}w`;
      words.push(word);
      formats.set(word, []);
      markdown += word;
    } else if (character === HEADER) {
      const header = `h${headers.length}h`;
      headers.push(header);
      markdown += header;
    } else if (format !== undefined) formats.get(word)?.push(format);
    else if (character === UNFORMATTED) formats.delete(word);
    else markdown += character;
  }
  return { markdown, words, headers, formats };
}
