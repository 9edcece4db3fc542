/**
 * Returns a readable key for a person or chat, unique among `taken`: the name in lowercase, with a
 * number if the name is taken. The key `bot` always refers to the bot.
 */
export function createUniqueKey(name: string, taken: ReadonlyMap<string, unknown>): string {
  const wish = name.includes('/') ? name : slugify(name);
  let key = wish;
  for (let nth = 2; taken.has(key) || key === 'bot'; nth += 1) key = `${wish}-${nth}`;
  return key;
}

/** Returns the words of a name in lowercase, joined by hyphens, or `x` for a name without words. */
export function slugify(name: string): string {
  const words = name
    .normalize('NFKD')
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu);
  return words?.join('-') ?? 'x';
}
