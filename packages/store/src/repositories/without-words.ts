/**
 * Makes a function that puts `mark` in the place of words, in a text or in all texts of a JSON value.
 * It gives back the same value, not a copy, where nothing was found. Longer words are taken first.
 */
export function withoutWords(words: readonly string[], mark: string): (value: unknown) => unknown {
  const forms = words.flatMap((word) => [word, inHtml(word)]).filter((word) => word.trim() !== '');
  const sorted = [...new Set(forms)].sort((one, other) => other.length - one.length);
  if (sorted.length === 0) return (value) => value;
  const pattern = new RegExp(sorted.map(patternOf).join('|'), 'giu');
  const inText = (text: string): string => text.replace(pattern, () => mark);
  const inside = (value: unknown): unknown => {
    if (typeof value === 'string') return inText(value);
    if (Array.isArray(value)) {
      const items = value.map(inside);
      return items.every((item, at) => item === value[at]) ? value : items;
    }
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value);
    const changed = entries.map(([key, item]) => [inText(key), inside(item)] as const);
    const isSame = changed.every(
      ([key, item], at) => key === entries[at]?.[0] && item === entries[at]?.[1],
    );
    return isSame ? value : Object.fromEntries(changed);
  };
  return inside;
}

/** Spaces may have become line ends on the way. */
function patternOf(word: string): string {
  return word
    .trim()
    .split(/\s+/)
    .map((piece) => piece.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'))
    .join('\\s+');
}

function inHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
