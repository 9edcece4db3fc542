/**
 * Control characters but line ends and tabs, soft hyphens, invisible and direction-changing
 * characters, tags and variation selectors: people do not see what is written with them, a model
 * does. The zero-width joiner and the emoji selector stay, since emoji need them.
 */
const UNSEEN =
  /[\p{Cc}\p{Cf}\u115f\u1160\u3164\uffa0\u{e0000}-\u{e0fff}]|\p{Default_Ignorable_Code_Point}/gu;
/** Of these, what emoji are made with. */
const KEPT: ReadonlySet<string> = new Set(['\n', '\t', '\u200d', '\ufe0f']);

/** Text as a person would see it, with plain line ends and no runs of empty lines. Pure. */
export function cleanText(text: string): string {
  return text
    .toWellFormed()
    .replace(/\r\n?|[\u2028\u2029\u0085]/g, '\n')
    .replace(UNSEEN, (character) => (KEPT.has(character) ? character : ''))
    .replace(/[^\S\n]+$/gm, '')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}
