/**
 * Joins a truncated answer with its continuation. A model that is asked to continue may repeat its
 * last words (as instructed), repeat its last sentence, or start over. The reader must not see any
 * of that text twice.
 */

/** A repetition of at least this many characters is never a coincidence, wherever it starts. */
const CERTAIN = 12;
/** A shorter repetition is ignored even when it consists of whole words. */
const MIN_WORDS = 3;
/**
 * The minimum length of a repetition that consists of several words and starts at a word boundary,
 * even if the cut was inside a word.
 */
const MIN_SEVERAL = 8;
const MIN_CJK = 3;
/** Dots and whitespace that models put before a continuation. */
const LEAD = /^(?:\s|\u2026|\.\.\.)+/;

const CJK =
  /\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}|\p{Script=Thai}/u;

/** How much of the beginning of `next` repeats the end of `before`, in UTF-16 units. */
export function getOverlapLength(before: string, next: string): number {
  const lead = LEAD.exec(next)?.[0].length ?? 0;
  const whole = findLongestOverlap(before, next);
  if (isRepetition(before, next, whole)) return whole;
  const behind = next.slice(lead);
  const inner = findLongestOverlap(before, behind);
  return lead > 0 && isRepetition(before, behind, inner) ? lead + inner : 0;
}

function findLongestOverlap(before: string, next: string): number {
  const tail = before.slice(-next.length);
  const fallback: number[] = [0];
  // The failure function (Knuth–Morris–Pratt) of `next` followed by the tail, which takes linear
  // time for any input.
  const text = `${next}\uFFFF${tail}`;
  for (let at = 1; at < text.length; at += 1) {
    let length = fallback[at - 1] ?? 0;
    while (length > 0 && text[at] !== text[length]) length = fallback[length - 1] ?? 0;
    fallback.push(text[at] === text[length] ? length + 1 : length);
  }
  return Math.min(next.length, fallback[text.length - 1] ?? 0);
}

function isRepetition(before: string, next: string, length: number): boolean {
  const words = next.slice(0, length);
  if (!/[\p{L}\p{N}]/u.test(words)) return false;
  if (length >= CERTAIN) return true;
  if (CJK.test(words)) return length >= MIN_CJK;
  if (isWordPart(before.at(-length - 1)) || !/\p{L}/u.test(words) || words.endsWith('\n'))
    return false;
  if (length >= MIN_SEVERAL && /\S\s+\S/.test(words)) return true;
  return length >= MIN_WORDS && !isWordPart(next.at(length));
}

function isWordPart(character: string | undefined): boolean {
  return character !== undefined && /[\p{L}\p{N}]/u.test(character);
}

const SPACED = /[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{N}]/u;

/**
 * The gap before a continuation without any repetition. Models start a message without a space, so
 * two words would run together. A single word split in two is rarer, because tokens seldom end
 * inside a word.
 */
function getContinuationGap(before: string, next: string): string {
  const [last = '', first = ''] = [before.at(-1), next[0]];
  return SPACED.test(last) && SPACED.test(first) ? ' ' : '';
}

/** Receives the next fragment of a continuation. */
export interface ContinuationJoiner {
  /**
   * Returns the part of the text that can be shown. Text that may still repeat the end of the
   * earlier answer is held back.
   */
  push(text: string): string;
  /** Ends the continuation and returns the text that was held back. */
  end(): string;
}

export function createContinuationJoiner(before: string): ContinuationJoiner {
  let held = '';
  let isOpen = true;
  const release = (): string => {
    isOpen = false;
    const repeated = getOverlapLength(before, held);
    if (repeated > 0) return held.slice(repeated);
    return held === '' ? '' : getContinuationGap(before, held) + held;
  };
  return {
    push(text) {
      if (!isOpen) return text;
      held += text;
      const behind = held.replace(LEAD, '');
      return canStillOverlap(before, held) || canStillOverlap(before, behind) ? '' : release();
    },
    end: () => (isOpen ? release() : ''),
  };
}

/** Whether a growing continuation may still turn out to repeat the end of `before`. */
function canStillOverlap(before: string, next: string): boolean {
  return next === '' || before.includes(next);
}
