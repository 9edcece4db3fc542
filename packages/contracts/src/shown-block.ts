/** Longer lines go on in a line of their own: a message can hold each, and a page shows all of it. */
const WIDTH = 160;
/** A character with its marks, or one that is written out; none is cut in two. */
const PIECE = /\\u\{[^}]*\}|\P{M}\p{M}*|\p{M}/gu;

/**
 * A call, as its record shows it (`shownArguments`), as a block of Markdown for people who decide it. A
 * line that begins with `+` goes on with the line above it, with what stands behind the sign. Nothing in
 * it begins like a fence, so it cannot end its block.
 */
export function shownBlock(shown: string): string {
  return `\`\`\`\n${shown.split('\n').flatMap(wrapped).join('\n')}\n\`\`\``;
}

function wrapped(line: string): readonly string[] {
  if (line.length <= WIDTH) return [line];
  const lines: string[] = [];
  let current = '';
  for (const piece of line.match(PIECE) ?? []) {
    if (current.length + piece.length > WIDTH && piece !== ' ') {
      const at = cutOf(current);
      lines.push(current.slice(0, at));
      current = `+${current.slice(at)}`;
    }
    current += piece;
  }
  return [...lines, current];
}

/** Before a space, which is seen at the beginning of a line and not at the end, if one is near. */
function cutOf(text: string): number {
  const word = text.lastIndexOf(' ');
  const spaces = text.slice(0, word + 1).trimEnd().length;
  return spaces > WIDTH / 2 ? spaces : text.length;
}
