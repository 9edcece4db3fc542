import type { RandomChance } from './chance.ts';

/** Files that a turn may create for another to find. */
export const MADE: readonly string[] = [
  ...['notes/made.md', 'knowledge/made.md', 'made.md', 'notes/made.txt', 'skills/watering/made.md'],
];

/** Paths that might be tried, none of which may lead a guest to a memory. */
const TRIED: readonly string[] = [
  'MEMORY.md',
  './MEMORY.md',
  '/MEMORY.md',
  '//MEMORY.md',
  'memory.md',
  'MEMORY.MD',
  'Memory.md',
  'MEMORY.md.',
  'MEMORY.md ',
  ' MEMORY.md',
  'MEMORY.md/',
  'MEMORY.md\u0000',
  'MEMORY.md\u0000.txt',
  'MEMORY.md::$DATA',
  'MEMORY\u200b.md',
  'MEMORY\u00ad.md',
  '\u202eMEMORY.md',
  '\ufeffMEMORY.md',
  'ＭＥＭＯＲＹ.md',
  'MEMORY．md',
  'ＭEMORY．ＭＤ',
  'MEMORY%2emd',
  '%4dEMORY.md',
  'MEMORY.md?raw',
  'MEMORY.md#top',
  'memory',
  'memory/',
  'memory/..',
  'memory/../MEMORY.md',
  'memory/.',
  'memory//profile.md',
  'memory/./profile.md',
  'MEMORY/profile.md',
  'ｍｅｍｏｒｙ/profile.md',
  'memory\\profile.md',
  '.\\MEMORY.md',
  'knowledge/../MEMORY.md',
  'knowledge/../memory/profile.md',
  'skills/watering/../../MEMORY.md',
  'knowledge/up/memory/profile.md',
  'groups',
  'groups/',
  'Groups',
  '~/MEMORY.md',
  'file:MEMORY.md',
  'file:///MEMORY.md',
  '*',
  '**/*.md',
  '{MEMORY,NOTES}.md',
  '.',
  '',
  '..',
  '.git/config',
  '../workspace/MEMORY.md',
];

/** A path to try: a listed path, an existing path, or a slightly altered version of either. */
export function pickHostilePath(
  existing: readonly string[],
  folder: string,
  chance: RandomChance,
): string {
  if (chance.happens(0.15)) return chance.pick(MADE);
  const path = chance.pick(chance.happens(0.5) ? TRIED : existing);
  switch (chance.below(10)) {
    case 0:
      return `${folder}/${path}`;
    case 1:
      return `./${path}`;
    case 2:
      return `knowledge/../${path}`;
    case 3:
      return path.toUpperCase();
    case 4:
      return path.normalize('NFD').replaceAll('m', 'ｍ');
    default:
      return path;
  }
}
