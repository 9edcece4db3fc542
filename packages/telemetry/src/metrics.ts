import type { Meter } from '@parley/contracts';
import { exposeGauge, exposeSample, exposeSeries, type GaugeReading } from './exposition.ts';
import { type MetricDefinition, type MetricTable, PARLEY_METRICS } from './metric-table.ts';
import { processSamples } from './process-samples.ts';
import { SeriesSet } from './series.ts';

/** A process's metrics: a meter to record with, and the text that `/metrics` answers. */
export interface Metrics {
  readonly meter: Meter;
  /** Prometheus's text format, with these gauges; serve it as `METRICS_CONTENT_TYPE`. */
  render(gauges?: readonly GaugeReading[]): string;
}

/** How metrics are made. */
export interface MetricsOptions {
  /**
   * Told of an undeclared name, a wrong label, a negative number. Tests throw. Default: a warning of
   * the process, because a slip in counting must not cost anybody an answer.
   */
  readonly onMistake?: (mistake: string) => void;
  /** Default: Parley's own. */
  readonly table?: MetricTable;
}

/** Makes the metrics of one process (D10). Recording is a few map look-ups; nothing is imported for it. */
export function createMetrics(options: MetricsOptions = {}): Metrics {
  const { table = PARLEY_METRICS, onMistake = (mistake) => process.emitWarning(mistake) } = options;
  const sets = new Map<string, SeriesSet>();
  for (const [name, definition] of Object.entries(table)) {
    if (definition.kind !== 'gauge') sets.set(name, new SeriesSet(definition));
  }

  function find(kind: 'counter' | 'histogram', name: string, labels: Labels, amount: number) {
    const set = sets.get(name);
    const mistake = mistakeIn(set, kind, name, labels, amount);
    if (mistake !== undefined) onMistake(mistake);
    if (mistake !== undefined || set === undefined) return undefined;
    return { set, series: set.at(set.definition.labels.map((label) => labels[label] ?? '')) };
  }

  return {
    meter: {
      count(name, labels = {}, by = 1) {
        const found = find('counter', name, labels, by);
        if (found !== undefined) found.series.count += by;
      },
      observe(name, milliseconds, labels = {}) {
        const found = find('histogram', name, labels, milliseconds);
        if (found === undefined || found.set.definition.kind !== 'histogram') return;
        const seconds = milliseconds / 1000;
        const { series } = found;
        series.count += 1;
        series.sum += seconds;
        const bucket = found.set.definition.buckets.findIndex((bound) => seconds <= bound);
        if (bucket !== -1) series.buckets[bucket] = (series.buckets[bucket] ?? 0) + 1;
      },
    },
    render: (gauges = []) => {
      const recorded = [...sets].flatMap(([name, set]) => exposeSeries(name, set));
      const read = gauges.flatMap((reading) => {
        const mistake = mistakeInGauge(table[reading.name], reading);
        if (mistake !== undefined) onMistake(mistake);
        return mistake === undefined ? exposeGauge(reading, table[reading.name]?.help ?? '') : [];
      });
      return `${[...recorded, ...read, ...processSamples().flatMap(exposeSample)].join('\n')}\n`;
    },
  };
}

function mistakeInGauge(
  definition: MetricDefinition | undefined,
  { name, values }: GaugeReading,
): string | undefined {
  if (definition?.kind !== 'gauge') return `There is no gauge ${name}; declare it.`;
  const declared = definition.labels.toSorted().join(', ');
  const wrong = values.find(({ labels = {} }) => {
    return Object.keys(labels).toSorted().join(', ') !== declared;
  });
  return wrong === undefined ? undefined : `${name} has the labels (${declared}).`;
}

type Labels = Readonly<Record<string, string>>;

function mistakeIn(
  set: SeriesSet | undefined,
  kind: 'counter' | 'histogram',
  name: string,
  labels: Labels,
  amount: number,
): string | undefined {
  if (set === undefined) return `There is no metric ${name}; declare it in metric-table.ts.`;
  const { definition } = set;
  if (definition.kind !== kind) return `${name} is a ${definition.kind}, not a ${kind}.`;
  const given = Object.keys(labels);
  if (
    given.length !== definition.labels.length ||
    !given.every((label) => definition.labels.includes(label))
  ) {
    const [declared, wrong] = [definition.labels, given].map((all) => all.toSorted().join(', '));
    return `${name} has the labels (${declared}), not (${wrong}).`;
  }
  if (!(amount >= 0)) return `${name} was given ${amount}, which is not a number of at least 0.`;
  return undefined;
}
