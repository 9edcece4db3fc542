/** One step from a sequence to another: an item of both, of the first alone, or of the second alone. */
export type SequenceStep<Item> =
  | { readonly kind: 'same'; readonly before: Item; readonly after: Item }
  | { readonly kind: 'removed'; readonly before: Item }
  | { readonly kind: 'added'; readonly after: Item };

/** Beyond so many comparisons (a tenth of a second) the differing middle counts as replaced. */
const MOST_COMPARISONS = 4_000_000;

/**
 * The way from one sequence to another that keeps the most items. All `before`s in order are the
 * first, all `after`s the second. What is removed comes before what is added in its place.
 */
export function diffSequence<Item>(
  before: readonly Item[],
  after: readonly Item[],
  keyOf: (item: Item) => string,
): readonly SequenceStep<Item>[] {
  const a = before.map((item) => ({ item, key: keyOf(item) }));
  const b = after.map((item) => ({ item, key: keyOf(item) }));
  const most = Math.min(a.length, b.length);
  let head = 0;
  while (head < most && a[head]?.key === b[head]?.key) head += 1;
  let tail = 0;
  while (tail < most - head && a.at(-1 - tail)?.key === b.at(-1 - tail)?.key) tail += 1;
  const [endOfA, endOfB] = [a.length - tail, b.length - tail];
  return [
    ...both(a.slice(0, head), b.slice(0, head)),
    ...middle(a.slice(head, endOfA), b.slice(head, endOfB)),
    ...both(a.slice(endOfA), b.slice(endOfB)),
  ];
}

interface Keyed<Item> {
  readonly item: Item;
  readonly key: string;
}

function both<Item>(a: readonly Keyed<Item>[], b: readonly Keyed<Item>[]): SequenceStep<Item>[] {
  return a.flatMap(({ item }, index) => {
    const other = b[index];
    return other === undefined ? [] : [{ kind: 'same', before: item, after: other.item }];
  });
}

function middle<Item>(a: readonly Keyed<Item>[], b: readonly Keyed<Item>[]): SequenceStep<Item>[] {
  const lengths = a.length * b.length > MOST_COMPARISONS ? null : commonLengths(a, b);
  const removed: SequenceStep<Item>[] = [];
  const added: SequenceStep<Item>[] = [];
  const steps: SequenceStep<Item>[] = [];
  const width = b.length + 1;
  let i = 0;
  let j = 0;
  const flush = () => steps.push(...removed.splice(0), ...added.splice(0));
  for (;;) {
    const left = a[i];
    const right = b[j];
    if (left === undefined && right === undefined) break;
    if (lengths && left && right && left.key === right.key) {
      flush();
      steps.push({ kind: 'same', before: left.item, after: right.item });
      i += 1;
      j += 1;
    } else if (
      left &&
      (!right || !lengths || at(lengths, (i + 1) * width + j) >= at(lengths, i * width + j + 1))
    ) {
      removed.push({ kind: 'removed', before: left.item });
      i += 1;
    } else if (right) {
      added.push({ kind: 'added', after: right.item });
      j += 1;
    }
  }
  flush();
  return steps;
}

/** For each pair of places, how much the rests have in common; rows of `b.length + 1`. */
function commonLengths(a: readonly Keyed<unknown>[], b: readonly Keyed<unknown>[]): Uint32Array {
  const width = b.length + 1;
  const lengths = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      lengths[i * width + j] =
        a[i]?.key === b[j]?.key
          ? at(lengths, (i + 1) * width + j + 1) + 1
          : Math.max(at(lengths, (i + 1) * width + j), at(lengths, i * width + j + 1));
    }
  }
  return lengths;
}

function at(lengths: Uint32Array, place: number): number {
  return lengths[place] ?? 0;
}
