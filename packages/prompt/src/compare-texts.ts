// The page of the console contains this file, so it imports nothing.

/**
 * A piece of two texts: in both, only in the first, or only in the second. A piece consists of
 * whole lines and is never empty.
 */
export interface TextPiece {
  readonly kind: 'same' | 'removed' | 'added';
  readonly text: string;
}

/**
 * Compares two texts line by line. Joined in order, `same` and `removed` form the first text, and
 * `same` and `added` the second, character for character.
 */
export function compareTexts(before: string, after: string): readonly TextPiece[] {
  const steps = diffSequence(splitLines(before), splitLines(after), (line) => line);
  const pieces: { kind: TextPiece['kind']; text: string }[] = [];
  for (const step of steps) {
    const text = step.kind === 'added' ? step.after : step.before;
    const last = pieces.at(-1);
    if (last?.kind === step.kind) last.text += text;
    else pieces.push({ kind: step.kind, text });
  }
  return pieces;
}

/**
 * One step from one sequence to another: an item in both, only in the first, or only in the second.
 */
export type SequenceStep<Item> =
  | { readonly kind: 'same'; readonly before: Item; readonly after: Item }
  | { readonly kind: 'removed'; readonly before: Item }
  | { readonly kind: 'added'; readonly after: Item };

/** The positions of a shared item in the first and in the second sequence. */
type PositionPair = readonly [number, number];

/**
 * Beyond this number of comparisons (a tenth of a second), the differing middle counts as replaced.
 */
const MAX_COMPARISONS = 4_000_000;

/**
 * The steps from one sequence to another that keep the most items. Joined in order, all `before`s
 * form the first sequence, and all `after`s the second. Removed items precede the items added in
 * their place.
 */
export function diffSequence<Item>(
  before: readonly Item[],
  after: readonly Item[],
  keyOf: (item: Item) => string,
): readonly SequenceStep<Item>[] {
  const steps: SequenceStep<Item>[] = [];
  let [i, j] = [0, 0];
  const pairs = findCommonPairs(before.map(keyOf), after.map(keyOf));
  for (const [ofBefore, ofAfter] of [...pairs, [before.length, after.length]]) {
    for (const item of before.slice(i, ofBefore)) steps.push({ kind: 'removed', before: item });
    for (const item of after.slice(j, ofAfter)) steps.push({ kind: 'added', after: item });
    const [same, other] = [before[ofBefore], after[ofAfter]];
    if (same !== undefined && other !== undefined) {
      steps.push({ kind: 'same', before: same, after: other });
    }
    [i, j] = [ofBefore + 1, ofAfter + 1];
  }
  return steps;
}

/** The positions of a longest common subsequence; none if the middle is too large. */
function findCommonPairs(a: readonly string[], b: readonly string[]): readonly PositionPair[] {
  const most = Math.min(a.length, b.length);
  let head = 0;
  while (head < most && a[head] === b[head]) head += 1;
  let tail = 0;
  while (tail < most - head && a.at(-1 - tail) === b.at(-1 - tail)) tail += 1;
  const [endOfA, endOfB] = [a.length - tail, b.length - tail];
  const middle = findLongestCommon(a.slice(head, endOfA), b.slice(head, endOfB));
  return [
    ...Array.from({ length: head }, (_, at): PositionPair => [at, at]),
    ...middle.map(([i, j]): PositionPair => [head + i, head + j]),
    ...Array.from({ length: tail }, (_, at): PositionPair => [endOfA + at, endOfB + at]),
  ];
}

/** Computes the subsequence from a table of lengths for all pairs of suffixes. */
function findLongestCommon(a: readonly string[], b: readonly string[]): readonly PositionPair[] {
  if (a.length * b.length > MAX_COMPARISONS) return [];
  const width = b.length + 1;
  const lengths = new Uint32Array((a.length + 1) * width);
  const rest = (i: number, j: number) => lengths[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      lengths[i * width + j] =
        a[i] === b[j] ? rest(i + 1, j + 1) + 1 : Math.max(rest(i + 1, j), rest(i, j + 1));
    }
  }
  const pairs: PositionPair[] = [];
  for (let [i, j] = [0, 0]; i < a.length && j < b.length; ) {
    if (a[i] === b[j]) pairs.push([i++, j++]);
    else if (rest(i + 1, j) >= rest(i, j + 1)) i += 1;
    else j += 1;
  }
  return pairs;
}

/** Splits text into lines including their line endings, so that joining them restores the text. */
function splitLines(text: string): readonly string[] {
  return text === '' ? [] : text.split(/(?<=\n)/);
}
