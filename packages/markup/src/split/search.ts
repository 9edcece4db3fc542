/**
 * The largest `count` in 0..max with a load of at most 1, given that loads never shrink. They grow
 * about evenly, so two of them tell where to look next; every third look halves what is left, in
 * case they do not.
 */
export function mostWithin(max: number, load: (count: number) => number): number {
  let low = 0;
  let lowLoad = 0;
  let high = max + 1;
  let next = Math.min(max, 8);
  for (let step = 1; high - low > 1; step += 1) {
    const value = load(next);
    const growth = (value - lowLoad) / (next - low);
    if (value <= 1) {
      low = next;
      lowLoad = value;
    } else high = next;
    const even = low + Math.floor((1 - lowLoad) / growth);
    const middle = Math.floor((low + high) / 2);
    next = step % 3 !== 0 && Number.isFinite(even) ? even : middle;
    next = Math.min(Math.max(next, low + 1), high - 1);
  }
  return low;
}
