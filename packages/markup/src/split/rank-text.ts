import type { Run } from '../document.ts';
import { BREAKS, type Rank } from './best-cut.ts';
import { endsSentence, endsWideSentence } from './sentences.ts';

const LINE = 0;
const SENTENCE = 1;
const WORD = 2;
const CHARACTER = BREAKS;
/** Added inside a link or code span: torn, it would not be one any more. */
const INSIDE_SPAN = 2 * BREAKS;

/** What may not begin a line: closing punctuation and small kana. */
const NOT_FIRST = `!?:;,.%…"'”’»›)]}、。，．：；！？・ー々ぁぃぅぇぉっゃゅょァィゥェォッャュョ」』）】》〉〕］｝`;
/** What may not end a line. */
const NOT_LAST = `“‘«‹([{¿¡「『（【《〈〔［｛`;
/** Text written without spaces, where any two characters may part. */
const SPACELESS = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\u3000-\u303f\uff00-\uff65]/u;

/** Ranks the places of a paragraph: between lines, sentences, words, characters. */
export function rankText(runs: readonly Run[], text: string): Rank {
  const inSpan = spansIn(runs, text.length);
  return (at) => rankAt(text, at) + (inSpan[at] === 1 ? INSIDE_SPAN : 0);
}

function rankAt(text: string, at: number): number {
  // Inside a Latin word, where most offsets are, nothing else needs to be looked at.
  if (isLatin(text.charCodeAt(at - 1)) && isLatin(text.charCodeAt(at))) return CHARACTER;
  const before = text[at - 1] ?? '\n';
  const after = text[at] ?? '\n';
  if (before === '\n' || after === '\n') return LINE;
  // A cut takes all white space away, so one place of it will do.
  if (isSpace(before)) return CHARACTER;
  if (isSpace(after)) return rankSpace(text, at);
  if (endsWideSentence(text, at)) return SENTENCE;
  const mayPart = !NOT_FIRST.includes(after) && !NOT_LAST.includes(before);
  return mayPart && SPACELESS.test(before) && SPACELESS.test(after) ? WORD : CHARACTER;
}

/** Ranks the end of a word. */
function rankSpace(text: string, end: number): number {
  let start = end;
  while (isSpace(text[start])) start += 1;
  const next = text[start] ?? '';
  // French puts a space between a word and its punctuation.
  if (next !== '' && NOT_FIRST.includes(next) && !`"'.`.includes(next)) return CHARACTER;
  if (NOT_LAST.includes(text[end - 1] ?? ' ')) return CHARACTER;
  return endsSentence(text, end, next) ? SENTENCE : WORD;
}

function isLatin(unit: number): boolean {
  return (unit >= 0x61 && unit <= 0x7a) || (unit >= 0x41 && unit <= 0x5a);
}

/** White space where a line may break; a no-break space keeps `10 000` together. */
function isSpace(character: string | undefined): boolean {
  if (character === undefined || character === '\u00a0' || character === '\u202f') return false;
  return character.trim() === '';
}

/** 1 at offsets inside one link or one code span. */
function spansIn(runs: readonly Run[], length: number): Uint8Array {
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
