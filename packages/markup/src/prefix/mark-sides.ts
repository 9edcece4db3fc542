import { mayClose, mayOpen } from '../parse/emphasis.ts';

/** Whether a run of marks may begin or end a format, by what stands on its sides. */
export interface MarkSides {
  readonly opens: boolean;
  readonly closes: boolean;
}

/**
 * The parser's rule for `*`, `_` and `~~`, and ours for `||`.
 * @param before the character before the run, empty at the beginning; `after` likewise.
 */
export function markSides(run: string, before: string, after: string): MarkSides {
  const character = run[0] ?? '';
  if ((character === '~' || character === '|') && run.length !== 2) {
    return { opens: false, closes: false };
  }
  if (character === '|') {
    return {
      opens: !isWord(before) && !isSpace(after),
      closes: !isSpace(before) && !isWord(after),
    };
  }
  const opens = !isSpace(after) && (!isSign(after) || isSpace(before) || isSign(before));
  const closes = !isSpace(before) && (!isSign(before) || isSpace(after) || isSign(after));
  if (character === '~') return { opens, closes };
  if (character === '*') {
    // Between letters a format may begin, but hardly ever does: `2*3`.
    if (isLatin(before) && isLatin(after)) return { opens: false, closes };
    const sides = { before, after };
    return { opens: opens || mayOpen(sides), closes: closes || mayClose(sides, run.length) };
  }
  return {
    opens: opens && (!closes || isSign(before)),
    closes: closes && (!opens || isSign(after)),
  };
}

/** The same character as often as it stands there. */
export function runAt(text: string, at: number): string {
  let end = at + 1;
  while (end < text.length && text[end] === text[at]) end += 1;
  return text.slice(at, end);
}

/** White space, or the beginning or end of the text. */
export function isSpace(character: string): boolean {
  return character.trim() === '';
}

/** A letter or digit. */
export function isWord(character: string): boolean {
  return /[\p{L}\p{N}]/u.test(character);
}

function isLatin(character: string): boolean {
  return /[\p{N}\p{Script=Latin}]/u.test(character);
}

function isSign(character: string): boolean {
  return /[\p{P}\p{S}]/u.test(character);
}
