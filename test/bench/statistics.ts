/** What several rounds of one measurement came to. */
export interface Summary {
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

/** Sums rounds up. Throws when there are none. */
export function summarise(values: readonly number[]): Summary {
  return { median: quantile(values, 0.5), least: quantile(values, 0), most: quantile(values, 1) };
}

/** The value below which `share` (0 to 1) of the values lie, between neighbours by proportion. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const place = (sorted.length - 1) * share;
  const below = sorted[Math.floor(place)];
  const above = sorted[Math.ceil(place)];
  if (below === undefined || above === undefined) throw new Error('No values to sum up.');
  return below + (above - below) * (place - Math.floor(place));
}

/** How much `ys` rise for each one of `xs`, by least squares. */
export function slope(xs: readonly number[], ys: readonly number[]): number {
  const mean = (values: readonly number[]) =>
    values.reduce((sum, value) => sum + value, 0) / values.length;
  const [meanX, meanY] = [mean(xs), mean(ys)];
  const above = xs.reduce((sum, x, at) => sum + (x - meanX) * ((ys[at] ?? 0) - meanY), 0);
  return above / xs.reduce((sum, x) => sum + (x - meanX) ** 2, 0);
}
