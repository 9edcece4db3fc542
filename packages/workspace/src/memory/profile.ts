import type { MemoryEntry, MemoryType } from './memory-entry.ts';

/** How often a memory was of use, by its id. */
export type MemoryUses = ReadonlyMap<string, number>;

/** Longest profile, in characters. */
export const PROFILE_CHARACTERS = 600;

/** Memories that may be too long for what room is left before no more are tried. */
const TRIED = 10;

const TITLES: Readonly<Record<MemoryType, string>> = {
  constraint: 'Rules',
  preference: 'Preferences',
  habit: 'Habits',
  skill: 'Skills',
  fact: 'Facts',
};

const ORDER: readonly MemoryType[] = ['constraint', 'preference', 'habit', 'skill', 'fact'];

/**
 * A short summary of memories, made without a model (G14): by type, in each the newest and most used
 * first. What the agent put down itself says so. Null when there is nothing to say.
 */
export function profileOf(entries: readonly MemoryEntry[], uses: MemoryUses): string | null {
  const ranked = rank(entries, uses);
  const chosen: MemoryEntry[] = [];
  let tooLong = 0;
  for (const entry of ranked) {
    const next = [...chosen, entry];
    if (print(next).length <= PROFILE_CHARACTERS) chosen.push(entry);
    else tooLong += 1;
    if (tooLong === TRIED) break;
  }
  return chosen.length === 0 ? null : print(chosen);
}

/** Each use counts as much as being one place newer. Files are oldest first, so the place is the age. */
function rank(entries: readonly MemoryEntry[], uses: MemoryUses): readonly MemoryEntry[] {
  return entries
    .map((entry, at) => {
      const rule = entry.type === 'constraint' ? entries.length : 0;
      return { entry, weight: at + rule + Math.min(uses.get(entry.id) ?? 0, 20) };
    })
    .sort((one, other) => other.weight - one.weight)
    .map(({ entry }) => entry);
}

function print(entries: readonly MemoryEntry[]): string {
  return ORDER.flatMap((type) => {
    const texts = entries
      .filter((entry) => entry.type === type)
      .map(({ text, words }) => (words === 'agent' ? `${text} (my own note)` : text));
    return texts.length === 0 ? [] : [`${TITLES[type]}: ${texts.join(' · ')}`];
  }).join('\n');
}
