import type { MemoryItem } from './memory-lines.ts';
import { isWishOrRule } from './wish-or-rule.ts';

/** What goes next, and the reason that is kept with it. */
export interface Trimming {
  readonly item: MemoryItem;
  readonly why: string;
}

/**
 * In which order items go when MEMORY.md is too long: those that upkeep added, the oldest first; then
 * others that tell their day; then those without one, from the top, as such pages grow downwards; and
 * wishes and rules last of all.
 */
export function trimOrder(items: readonly MemoryItem[]): readonly Trimming[] {
  return items
    .map((item) => ({ item, rank: rankOf(item), why: reasonOf(item) }))
    .sort((one, other) => one.rank - other.rank || byDay(one.item, other.item))
    .map(({ item, why }) => ({ item, why }));
}

function rankOf({ text, date, isOwn }: MemoryItem): number {
  if (isWishOrRule(text)) return 3;
  if (date === null) return 2;
  return isOwn ? 0 : 1;
}

function byDay(one: MemoryItem, other: MemoryItem): number {
  const [day, otherDay] = [one.date ?? '', other.date ?? ''];
  return day < otherDay ? -1 : day > otherDay ? 1 : 0;
}

function reasonOf({ date }: MemoryItem): string {
  const which = date === null ? 'it stood above the others' : `it is of ${date}`;
  return `the page was too long, and ${which}`;
}
