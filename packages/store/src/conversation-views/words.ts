/** A word of a text as the search compares it, and where it is in the text. */
interface PlacedWord {
  readonly word: string;
  readonly at: number;
}

/** What a person types into the search: each term has to be found; its words follow each other. */
export type SearchTerms = readonly (readonly string[])[];

/** Scripts without spaces between words: there each character counts as a word, and a word is a phrase. */
const UNSPACED =
  '[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}]';

const WORDS = new RegExp(`${UNSPACED}|(?:(?!${UNSPACED})[\\p{L}\\p{N}\\p{M}])+`, 'gu');

/** Longer words are known by their beginning. */
const LONGEST_WORD = 64;
/** Positions in a `tsvector` end at 16,383. */
const MOST_WORDS = 10_000;
/** A `tsvector` has at most 1 MB; a character at most 4 bytes. */
const MOST_CHARACTERS = 200_000;
const MOST_TERMS = 10;

/**
 * The words of a text. Both databases index these as they are, so that no locale, no tokenizer and no version of
 * Unicode decides what is found: case and accents do not count (`Größe` is found by `grosse`).
 */
function placedWords(text: string): readonly PlacedWord[] {
  const found: PlacedWord[] = [];
  let characters = 0;
  for (const { 0: piece, index: at } of text.matchAll(WORDS)) {
    const word = folded(piece);
    characters += word.length;
    if (found.length === MOST_WORDS || characters > MOST_CHARACTERS) break;
    if (word !== '') found.push({ word, at });
  }
  return found;
}

/** The words of a text, in their order. */
export function wordsOf(text: string): readonly string[] {
  return placedWords(text).map(({ word }) => word);
}

/** Marks that Latin, Greek and Cyrillic letters carry; those of other scripts make other letters. */
const ACCENTS = /[\u0300-\u036f]/g;

function folded(piece: string): string {
  return piece
    .normalize('NFKD')
    .replace(ACCENTS, '')
    .normalize('NFC')
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .replace(/[^\p{L}\p{N}\p{M}]/gu, '')
    .slice(0, LONGEST_WORD);
}

/** The terms of what was typed; none where there is no word in it. */
export function termsOf(typed: string): SearchTerms {
  return typed
    .split(/\s+/)
    .map(wordsOf)
    .filter((words) => words.length > 0)
    .slice(0, MOST_TERMS);
}

/** Whether each term is in a text; the last word of a term may be the beginning of one there. */
export function isFoundIn(text: string, terms: SearchTerms): boolean {
  const words = placedWords(text);
  return terms.every((term) => placeOf(words, term) !== null);
}

/** Characters on each side of the place that was found. */
const AROUND = 80;

/** The part of a text in which the first term is found, and its beginning where none is. */
export function excerptOf(text: string, terms: SearchTerms): string {
  const words = placedWords(text);
  const places = terms.flatMap((term) => placeOf(words, term) ?? []);
  const at = places.length === 0 ? 0 : Math.min(...places);
  // Half of a character outside the basic plane, at either end, is left out.
  const from = at <= AROUND ? 0 : at - AROUND;
  const to = at + 2 * AROUND;
  const piece = Array.from(text.slice(from, to))
    .filter((character) => character.isWellFormed())
    .join('');
  const start = from > 0 ? '…' : '';
  return `${start}${piece.replaceAll(/\s+/g, ' ').trim()}${to < text.length ? '…' : ''}`;
}

function placeOf(words: readonly PlacedWord[], term: readonly string[]): number | null {
  const last = term.length - 1;
  const nth = words.findIndex((_, start) =>
    term.every((wanted, offset) => {
      const word = words[start + offset]?.word;
      return offset === last ? word?.startsWith(wanted) === true : word === wanted;
    }),
  );
  return words[nth]?.at ?? null;
}
