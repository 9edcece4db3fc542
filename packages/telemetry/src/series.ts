import type { RecordedDefinition } from './metric-table.ts';

/** The values of a metric's labels, in the order the metric declares them. */
export type LabelValues = readonly string[];

/** More combinations than this mean that a label holds ids or text; the rest is counted as `other`. */
const MOST_SERIES = 200;

/** What was counted or timed for one combination of label values. `sum` is in seconds. */
export interface Series {
  readonly values: LabelValues;
  count: number;
  sum: number;
  /** Observations per bucket, not cumulative; those above the last bound are only in `count`. */
  readonly buckets: number[];
}

/** The recorded series of one metric. */
export class SeriesSet {
  readonly definition: RecordedDefinition;
  readonly #series = new Map<string, Series>();

  constructor(definition: RecordedDefinition) {
    this.definition = definition;
    // A series that starts at zero lets a rate be computed from its first increase on.
    if (definition.labels.length === 0) this.at([]);
  }

  /** The series for these values, made if need be. */
  at(values: LabelValues): Series {
    const key = JSON.stringify(values);
    const known = this.#series.get(key);
    if (known !== undefined) return known;
    const full = this.#series.size >= MOST_SERIES && !values.every((value) => value === 'other');
    if (full) return this.at(values.map(() => 'other'));
    const bounds = this.definition.kind === 'histogram' ? this.definition.buckets : [];
    const series = { values, count: 0, sum: 0, buckets: bounds.map(() => 0) };
    this.#series.set(key, series);
    return series;
  }

  /** In the order of their first use. */
  all(): Iterable<Series> {
    return this.#series.values();
  }
}
