import type { DiscordNode } from './markdown-node.ts';

/** Where in a message the reading stands. */
export interface ReadState {
  /** What the last rule took; empty at the very start. Nested content begins with its parent's. */
  readonly before: string;
  /** False only in a list item with empty lines: then marks work in paragraphs alone. */
  readonly inline: boolean;
  readonly inQuote: boolean;
  readonly listLevel: number;
  readonly headings: boolean;
  readonly subtexts: boolean;
  /** False in the text of a masked link. */
  readonly escapes: boolean;
  /** In the text of a masked link that was accepted only marks, code and times are read. */
  readonly onlyMarks: boolean;
}

/** Reads a whole text with the rules that hold in this state. */
export type Read = (source: string, state: ReadState) => DiscordNode[];

/** What a rule took from the source, up to `end`, and what it means. */
export interface Taken {
  readonly end: number;
  readonly nodes: readonly DiscordNode[];
}

/** Tries to read something that begins exactly at `at`. */
export type Rule = (source: string, at: number, state: ReadState, read: Read) => Taken | undefined;

/** Whether nothing or a line end stands before, as headings want it. */
export function startsLine({ before }: ReadState): boolean {
  return before === '' || before.endsWith('\n');
}

/** Whether nothing, or a line end and spaces, stands before, as quotes and lists want it. */
export function startsIndentedLine({ before }: ReadState): boolean {
  return before === '' || /\n *$/.test(before);
}

/** The end of a run of one character. */
export function endOfRun(source: string, at: number, character: string): number {
  let end = at;
  while (source[end] === character) end += 1;
  return end;
}

/** White space as JavaScript's regular expressions, and so Discord's rules, understand it. */
export function isSpace(character: string | undefined): boolean {
  return character !== undefined && /\s/.test(character);
}

/** An ASCII letter, digit or underscore. */
export function isWord(character: string | undefined): boolean {
  return character !== undefined && /\w/.test(character);
}
