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

/**
 * The largest `count` in 0..max with a load of at most 1. Loads grow about evenly, so each one tells
 * where to look next; every second step halves what is left, in case they do not.
 */
export function mostWithin(max: number, load: (count: number) => number): number {
  let low = 0;
  let high = max + 1;
  let next = Math.min(max, 8);
  for (let step = 0; high - low > 1; step += 1) {
    const value = load(next);
    if (value <= 1) low = next;
    else high = next;
    const even = Math.floor(next / value);
    const middle = Math.floor((low + high) / 2);
    next = step % 2 === 0 && Number.isFinite(even) ? even : middle;
    next = Math.min(Math.max(next, low + 1), high - 1);
  }
  return low;
}
