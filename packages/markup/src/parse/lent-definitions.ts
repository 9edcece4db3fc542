import type { Piece } from './pieces.ts';

/** What is lent to every piece at most; more is not resolved across pieces. */
const MAX_DEFINITIONS = 200;
const MAX_LENGTH = 4_000;

/**
 * The definitions of links and footnotes of all pieces, so that a reference in one piece finds its
 * definition in another. Of a footnote only its name: its text is shown where it stands.
 * @returns Markdown to put before each piece; empty if there are none.
 */
export function lentDefinitions(pieces: readonly Piece[]): string {
  const links: string[] = [];
  const footnotes: string[] = [];
  let length = 0;
  for (const line of definitionLines(pieces)) {
    const lent = line[1] === '^' ? `${line.slice(0, line.indexOf(']'))}]: .` : line;
    length += lent.length + 1;
    if (links.length + footnotes.length >= MAX_DEFINITIONS || length > MAX_LENGTH) break;
    (line[1] === '^' ? footnotes : links).push(lent);
  }
  // The rule ends the last footnote, else it would take an indented line that follows.
  if (footnotes.length > 0) footnotes.push('', '***', '');
  return (
    [...footnotes, ...links].map((line) => `${line}\n`).join('') + (links.length > 0 ? '\n' : '')
  );
}

function* definitionLines(pieces: readonly Piece[]): Generator<string> {
  for (const piece of pieces) {
    if (piece.type !== 'markdown') continue;
    for (const line of piece.text.split('\n')) if (isDefinition(line)) yield line;
  }
}

function isDefinition(line: string): boolean {
  if (line[0] !== '[') return false;
  const end = line.indexOf(']');
  return end > 1 && line[end + 1] === ':' && line.slice(end + 2).trim() !== '';
}
