/**
 * The largest `count` in 0..max for which `holds` is true, given that it is true up to some count
 * and false from there on. Doubles first, because what fits is often far less than what there is.
 */
export function largest(max: number, holds: (count: number) => boolean): number {
  let low = 0;
  let high = 1;
  while (high < max && holds(high)) {
    low = high;
    high *= 2;
  }
  high = Math.min(high, max);
  if (high > low && holds(high)) return high;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (holds(middle)) low = middle;
    else high = middle;
  }
  return low;
}
