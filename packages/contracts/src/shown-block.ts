/** Longer lines go on in a line of their own: a message can hold each, and a page shows all of it. */
const WIDTH = 160;
/** A character with its marks, or one that is written out; none is cut in two. */
const PIECE = /\\u\{[^}]*\}|\P{M}\p{M}*|\p{M}/gu;

/**
 * A call, as its record shows it (`shownArguments`), as a block of Markdown for people who decide it. A
 * line that begins with `+` goes on with the line above it, without a space between. Nothing in it
 * begins like a fence, so it cannot end its block.
 */
export function shownBlock(shown: string): string {
  return `\`\`\`\n${shown.split('\n').flatMap(wrapped).join('\n')}\n\`\`\``;
}

function wrapped(line: string): readonly string[] {
  if (line.length <= WIDTH) return [line];
  const lines: string[] = [];
  let current = '';
  for (const piece of line.match(PIECE) ?? []) {
    const text = current.trimEnd();
    const isFull = current.length + piece.length > WIDTH && text.length > '+ '.length;
    const spaces = current.length - text.length;
    // Spaces at an end or a beginning are overlooked, so they are in the middle of a line, or written out.
    const isPlace = piece !== ' ' && (spaces === 0 || current.length > 2 * WIDTH);
    if (isFull && isPlace) {
      lines.push(text);
      current = spaces === 0 ? '+ ' : `+ \\u{20${spaces === 1 ? '' : `*${spaces}`}}`;
    }
    current += piece;
  }
  return [...lines, current];
}
