import type { MemoryEntry } from '@parley/workspace';

/** Whether `/forget WORDS` means a memory: by its id, or because all the words stand in it. */
export function meansMemory(words: string, { id, text }: MemoryEntry): boolean {
  return words.toLowerCase() === id || hasWords(text, words);
}

/** Whether a line holds a text, as whole words. */
export function meansLine(text: string, line: string): boolean {
  return hasWords(line, text);
}

/**
 * Whether `wanted` stands in `text` as it is, but for case and spaces. Words of scripts with spaces
 * count only as a whole: `art` is not in `party`.
 */
function hasWords(text: string, wanted: string): boolean {
  const within = folded(text);
  const what = folded(wanted);
  if (what === '') return false;
  for (let at = within.indexOf(what); at !== -1; at = within.indexOf(what, at + 1)) {
    const isCut = joins(within[at - 1], what[0]) || joins(what.at(-1), within[at + what.length]);
    if (!isCut) return true;
  }
  return false;
}

/** Two characters that belong to one word. */
function joins(one: string | undefined, other: string | undefined): boolean {
  return isLetter(one) && isLetter(other);
}

function isLetter(character: string | undefined): boolean {
  if (
    character === undefined ||
    /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u.test(character)
  ) {
    return false;
  }
  return /[\p{L}\p{N}]/u.test(character);
}

function folded(text: string): string {
  return text.normalize('NFKC').toLowerCase().replace(/\s+/g, ' ').trim();
}
