/** A name somebody gave themselves, as code: it cannot look like a part of our own words. */
export function named(name: string): string {
  const plain = name.replace(/[\p{C}`]/gu, '').trim();
  return plain === '' ? 'Somebody' : `\`${plain.slice(0, 80).toWellFormed()}\``;
}
