import { foldLetter } from '../inbox/highlight.ts';

/** A destination or an action offered by the palette. */
export interface PaletteEntry {
  readonly id: string;
  readonly kind: 'Pages' | 'Chats' | 'Commands';
  readonly label: string;
  readonly hint: string;
}

/** The maximum number of entries shown. */
const MOST = 12;

/**
 * The entries that contain all typed words. Those whose label starts with the typed text come
 * first.
 */
export function filterEntries<Entry extends PaletteEntry>(
  entries: readonly Entry[],
  typed: string,
): readonly Entry[] {
  const asked = foldLetter(typed.trim());
  const words = asked.split(/\s+/);
  const rank = ({ label }: PaletteEntry): number => {
    const text = foldLetter(label).replace(/^\//, '');
    if (text.startsWith(asked.replace(/^\//, ''))) return 0;
    return words.every((word) => text.includes(word)) ? 1 : 2;
  };
  return entries
    .filter(({ label, hint }) => {
      const text = foldLetter(`${label} ${hint}`);
      return words.every((word) => text.includes(word));
    })
    .sort((a, b) => rank(a) - rank(b))
    .slice(0, MOST);
}

/** The position after an arrow key, wrapping around at both ends; null for any other key. */
export function movePosition(key: string, at: number, count: number): number | null {
  if (count === 0) return null;
  if (key === 'ArrowDown') return (at + 1) % count;
  if (key === 'ArrowUp') return (at + count - 1) % count;
  return null;
}
