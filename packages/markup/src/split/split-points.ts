import type { TextRun } from '../document.ts';

/**
 * The penalty for a cut at an offset; lower is better. From `BREAKS` on, the cut splits a unit, and
 * each further multiple of it is a worse split.
 */
export type RankSplit = (at: number) => number;

/** The lowest penalty that splits a unit. */
export const BREAKS = 10;

const LINE = 0;
const SENTENCE = 1;
const WORD = 2;
const CHARACTER = BREAKS;
/** Added inside a link or code span, which would stop being one after a split. */
const INSIDE_SPAN = 2 * BREAKS;

/** Characters that may not begin a line: closing punctuation and small kana. */
const NOT_FIRST = `!?:;,.%…"'”’»›)]}、。，．：；！？・ー々ぁぃぅぇぉっゃゅょァィゥェォッャュョ」』）】》〉〕］｝`;
const NOT_LAST = `“‘«‹([{¿¡「『（【《〈〔［｛`;
/** Scripts without spaces, in which any two characters may be separated. */
const SPACELESS = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\u3000-\u303f\uff00-\uff65]/u;

/** Ranks the positions in a paragraph: between lines, sentences, words, characters. */
export function rankText(runs: readonly TextRun[], text: string): RankSplit {
  const inSpan = markSpans(runs, text.length);
  return (at) => rankPosition(text, at) + (inSpan[at] === 1 ? INSIDE_SPAN : 0);
}

function rankPosition(text: string, at: number): number {
  // Inside a Latin word, where most offsets are, no other check is needed.
  if (isLatinUnit(text.charCodeAt(at - 1)) && isLatinUnit(text.charCodeAt(at))) return CHARACTER;
  const before = text[at - 1] ?? '\n';
  const after = text[at] ?? '\n';
  if (before === '\n' || after === '\n') return LINE;
  // A cut removes all whitespace around it, so one position within the whitespace is enough.
  if (isBreakableSpace(before)) return CHARACTER;
  if (isBreakableSpace(after)) return rankSpace(text, at);
  if (endsWideSentence(text, at)) return SENTENCE;
  const mayPart = !NOT_FIRST.includes(after) && !NOT_LAST.includes(before);
  return mayPart && SPACELESS.test(before) && SPACELESS.test(after) ? WORD : CHARACTER;
}

function rankSpace(text: string, end: number): number {
  let start = end;
  while (isBreakableSpace(text[start])) start += 1;
  const next = text[start] ?? '';
  // French puts a space between a word and its punctuation.
  if (next !== '' && NOT_FIRST.includes(next) && !`"'.`.includes(next)) return CHARACTER;
  if (NOT_LAST.includes(text[end - 1] ?? ' ')) return CHARACTER;
  return endsSentence(text, end, next) ? SENTENCE : WORD;
}

function isLatinUnit(unit: number): boolean {
  return (unit >= 0x61 && unit <= 0x7a) || (unit >= 0x41 && unit <= 0x5a);
}

/** Whitespace where a line may break; a no-break space keeps `10 000` together. */
function isBreakableSpace(character: string | undefined): boolean {
  if (character === undefined || character === '\u00a0' || character === '\u202f') return false;
  return character.trim() === '';
}

/** 1 at offsets inside one link or one code span. */
function markSpans(runs: readonly TextRun[], length: number): Uint8Array {
  const inside = new Uint8Array(length);
  let from = 0;
  let open: unknown;
  for (const { text, marks } of runs) {
    if (from >= length) break;
    const span =
      marks.find(({ type }) => type === 'link') ?? marks.find(({ type }) => type === 'code');
    if (span !== undefined) {
      inside.fill(1, span === open ? from : from + 1, from + text.length);
    }
    open = span;
    from += text.length;
  }
  return inside;
}

/**
 * Sentence-ending punctuation followed by a space: Latin, Arabic, Urdu, Hindi, Armenian, Ethiopic.
 */
const STOPS = '.!?…؟۔।॥։።';
/** Sentence-ending punctuation not followed by a space: Chinese, Japanese. */
const WIDE_STOPS = '。！？｡．';
/** Closing characters after a full stop, which stay with the sentence. */
const CLOSERS = `"'”’»›)]}」』）】》〉〕］｝`;
/** Abbreviations that end with a full stop; a sentence rarely ends with one. */
const SHORTENED = new Set(
  'mr mrs ms dr prof st vs cf no nr fig vol art abs approx ca bzw vgl usw inkl ggf sog'.split(' '),
);
/**
 * After too many consecutive closers no sentence end is assumed, because examining all of them
 * would take too long.
 */
const MAX_CLOSERS = 8;
const MAX_WORD = 12;

/** Whether the whitespace after `end` separates two sentences. */
function endsSentence(text: string, end: number, next: string): boolean {
  const stop = skipClosersBackward(text, end);
  const character = text[stop] ?? ' ';
  if (WIDE_STOPS.includes(character)) return true;
  // In `"Stop!" he said`, the text after the exclamation mark continues in lower case, so no
  // sentence ends there.
  if (!STOPS.includes(character) || /\p{Ll}/u.test(next)) return false;
  return character !== '.' || !isAbbreviation(text.slice(Math.max(0, stop - MAX_WORD), stop));
}

/** Whether a sentence ends at `end` without whitespace, as in Chinese and Japanese. */
function endsWideSentence(text: string, end: number): boolean {
  const after = text[end] ?? '';
  if (CLOSERS.includes(after) || WIDE_STOPS.includes(after)) return false;
  return WIDE_STOPS.includes(text[skipClosersBackward(text, end)] ?? ' ');
}

function skipClosersBackward(text: string, end: number): number {
  let at = end - 1;
  const least = Math.max(0, end - 1 - MAX_CLOSERS);
  while (at > least && CLOSERS.includes(text[at] ?? ' ')) at -= 1;
  return at;
}

/** An abbreviation (`e.g`, `Dr`), an initial, or the number of a list or a date (`3. Mai`). */
function isAbbreviation(before: string): boolean {
  const word = before.split(/[\s([{"'“‘«]/).at(-1) ?? '';
  return (
    /^(?:\p{L}|\d{1,2}|(?:\p{L}{1,3}\.)+\p{L}{1,3})$/u.test(word) ||
    SHORTENED.has(word.toLowerCase())
  );
}
