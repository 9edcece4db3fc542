/**
 * The candidate that a person most likely meant, or undefined when none is close: case, `-` and `_`
 * do not count, and at most a third of the letters may differ.
 */
export function nearest(written: string, candidates: Iterable<string>): string | undefined {
  const wanted = simplify(written).slice(0, 64);
  const furthest = Math.max(1, Math.floor(wanted.length / 3));
  let best: { candidate: string; distance: number } | undefined;
  for (const candidate of candidates) {
    const distance = editDistance(wanted, simplify(candidate).slice(0, 64));
    if (distance <= furthest && distance < (best?.distance ?? Number.POSITIVE_INFINITY)) {
      best = { candidate, distance };
    }
  }
  return best?.candidate;
}

function simplify(text: string): string {
  return text.toLowerCase().replaceAll(/[-_\s]/g, '');
}

/** Levenshtein's distance; two swapped neighbours count as one slip, for that is how fingers err. */
export function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      const swapped =
        row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      current[column] = Math.min(
        at(last, column) + 1,
        at(current, column - 1) + 1,
        at(last, column - 1) + (same ? 0 : 1),
        swapped ? at(beforeLast, column - 2) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    beforeLast = last;
    last = current;
  }
  return at(last, b.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
