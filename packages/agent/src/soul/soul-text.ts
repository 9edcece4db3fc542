import { compareTexts } from '@parley/prompt';

/** Lines around a change that are kept in a difference. */
const AROUND = 2;

/** What turns one text into another, line by line: `-` gone, `+` new, ` ` the lines around, `…` more of them. */
export function soulDiff(before: string, after: string): string {
  const pieces = compareTexts(`${before}\n`, `${after}\n`);
  const lines = pieces.flatMap(({ kind, text }, nth) => {
    const own = text.replace(/\n$/, '').split('\n');
    if (kind !== 'same') return own.map((line) => `${kind === 'added' ? '+' : '-'}${line}`);
    return shortened(
      own.map((line) => ` ${line}`),
      nth > 0,
      nth < pieces.length - 1,
    );
  });
  return lines.join('\n');
}

/** Of what stays the same, what stands next to a change. */
function shortened(
  lines: readonly string[],
  isBehindOne: boolean,
  isBeforeOne: boolean,
): readonly string[] {
  const head = isBehindOne ? AROUND : 0;
  const tail = isBeforeOne ? AROUND : 0;
  if (lines.length <= head + tail + 1) return lines;
  return [...lines.slice(0, head), '…', ...(tail === 0 ? [] : lines.slice(-tail))];
}

/** How much of the words of `before` is not in `after` any more, from 0 to 1, wherever they stand. */
export function shareLost(before: string, after: string): number {
  const left = counted(wordsOf(after));
  const words = wordsOf(before);
  if (words.length === 0) return 0;
  let lost = 0;
  for (const word of words) {
    const count = left.get(word) ?? 0;
    if (count === 0) lost += 1;
    else left.set(word, count - 1);
  }
  return lost / words.length;
}

/** Words, and each Chinese character, in lower case. */
function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().match(/\p{Script=Han}|[\p{L}\p{N}’']+/gu) ?? [];
}

function counted(words: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

const COMMON: Readonly<Record<string, ReadonlySet<string>>> = {
  English: new Set('the and you your are is to of in not it that with for be when what'.split(' ')),
  German: new Set(
    'der die das und du dein bist ist zu von in nicht es mit für sei wenn was'.split(' '),
  ),
};

/** The language of a text as far as it can be told from its commonest words; null: not clear. */
export function languageOf(text: string): string | null {
  const words = wordsOf(text);
  if (words.length < 8) return null;
  const han = words.filter((word) => /\p{Script=Han}/u.test(word)).length;
  if (han > words.length / 2) return 'Chinese';
  const [best, next] = Object.entries(COMMON)
    .map(([name, common]) => ({ name, hits: words.filter((word) => common.has(word)).length }))
    .sort((a, b) => b.hits - a.hits);
  if (best === undefined || next === undefined) return null;
  return best.hits >= 3 && best.hits > next.hits * 1.5 ? best.name : null;
}
