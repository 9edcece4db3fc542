/** A piece of text, and whether it matches the search. */
export interface HighlightPiece {
  readonly text: string;
  readonly isHit: boolean;
}

/**
 * A letter or text in the form that the search compares: in lower case, without accents, and with
 * `ß` as `ss`.
 */
export function normalizeLetter(letter: string): string {
  return letter.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().replaceAll('ß', 'ss');
}

/** The words of a search in the form that the search compares. */
function splitSearchWords(asked: string): readonly string[] {
  return (asked.match(/[\p{L}\p{N}\p{M}]+/gu) ?? []).map(foldedText).filter((word) => word !== '');
}

const foldedText = (text: string): string => [...text].map(normalizeLetter).join('');

/**
 * Whether a text contains every word of a search; a search without words does not find anything.
 */
export function hasAllWords(text: string, asked: string): boolean {
  const words = splitSearchWords(asked);
  const compared = foldedText(text);
  return words.length > 0 && words.every((word) => compared.includes(word));
}

/**
 * Splits text into pieces and marks the search words as hits. Joined together, the pieces are the
 * original text.
 */
export function highlightMatches(text: string, asked: string): readonly HighlightPiece[] {
  const letters = [...text];
  // Normalizing a letter may produce several; each of them maps back to the original letter.
  const origin = letters.flatMap((letter, at) => [...normalizeLetter(letter)].map(() => at));
  // Positions count code points, as `origin` does.
  const points = [...foldedText(text)];
  const isHit = new Array<boolean>(letters.length).fill(false);
  for (const word of splitSearchWords(asked)) markWord(points, [...word], origin, isHit);
  return toPieces(letters, isHit);
}

function markWord(
  points: readonly string[],
  word: readonly string[],
  origin: readonly number[],
  isHit: boolean[],
): void {
  for (let start = 0; start + word.length <= points.length; start += 1) {
    if (!word.every((letter, at) => points[start + at] === letter)) continue;
    for (let at = start; at < start + word.length; at += 1) isHit[origin[at] ?? 0] = true;
  }
}

function toPieces(
  letters: readonly string[],
  isHit: readonly boolean[],
): readonly HighlightPiece[] {
  const pieces: { text: string; isHit: boolean }[] = [];
  for (const [at, letter] of letters.entries()) {
    const last = pieces.at(-1);
    // A combining accent counts as part of the preceding letter.
    const hit = normalizeLetter(letter) === '' ? last?.isHit === true : isHit[at] === true;
    if (last?.isHit === hit) last.text += letter;
    else pieces.push({ text: letter, isHit: hit });
  }
  return pieces;
}
