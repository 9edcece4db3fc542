// biome-ignore lint/style/noRestrictedImports: it describes the process here and measures no duration.
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import type { Meter } from '../index.ts';
import {
  type MetricDefinition,
  type MetricTable,
  PARLEY_METRICS,
  type RecordedDefinition,
} from './metric-table.ts';

/** The metrics of a process: a meter to record with, and the text of `/metrics`. */
export interface Metrics {
  readonly meter: Meter;
  /** Renders Prometheus's text format with these gauges, to be served as `METRICS_CONTENT_TYPE`. */
  render(gauges?: readonly GaugeReading[]): string;
}

export interface MetricsOptions {
  /**
   * Called for an undeclared name, a wrong label or a negative number. In tests this callback
   * throws. The default emits a process warning, because a counting mistake must not prevent an
   * answer.
   */
  readonly onMistake?: (mistake: string) => void;
  /** The metric definitions; Parley's own table by default. */
  readonly table?: MetricTable;
}

/**
 * Creates the metrics of one process (D10). Recording takes a few map lookups and loads no library.
 */
export function createMetrics(options: MetricsOptions = {}): Metrics {
  const { table = PARLEY_METRICS, onMistake = (mistake) => process.emitWarning(mistake) } = options;
  const sets = new Map<string, SeriesSet>();
  for (const [name, definition] of Object.entries(table)) {
    if (definition.kind !== 'gauge') sets.set(name, new SeriesSet(definition));
  }

  function find(kind: 'counter' | 'histogram', name: string, labels: Labels, amount: number) {
    const set = sets.get(name);
    const mistake = findSeriesMistake(set, kind, name, labels, amount);
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
        const mistake = findGaugeMistake(table[reading.name], reading);
        if (mistake !== undefined) onMistake(mistake);
        const help = table[reading.name]?.help ?? '';
        return mistake === undefined ? exposeValues({ ...reading, kind: 'gauge', help }) : [];
      });
      return `${[...recorded, ...read, ...readProcessSamples().flatMap(exposeValues)].join('\n')}\n`;
    },
  };
}

function findGaugeMistake(
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

function findSeriesMistake(
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

/** The values of a metric's labels, in their declared order. */
type LabelValues = readonly string[];

/**
 * More combinations than this mean that a label contains ids or text; the rest is counted as
 * `other`.
 */
const MAX_SERIES = 200;

/** The counts and times of one combination of label values. The field `sum` is in seconds. */
interface Series {
  readonly values: LabelValues;
  count: number;
  sum: number;
  /** Observations per bucket, not cumulative; those above the last bound are only in `count`. */
  readonly buckets: number[];
}

/** The recorded series of one metric. */
class SeriesSet {
  readonly definition: RecordedDefinition;
  readonly #series = new Map<string, Series>();

  constructor(definition: RecordedDefinition) {
    this.definition = definition;
    // A series that starts at zero allows a rate to be computed from its first increment.
    if (definition.labels.length === 0) this.at([]);
  }

  /** Returns the series for these values, created if needed. */
  at(values: LabelValues): Series {
    const key = JSON.stringify(values);
    const known = this.#series.get(key);
    if (known !== undefined) return known;
    const full = this.#series.size >= MAX_SERIES && !values.every((value) => value === 'other');
    if (full) return this.at(values.map(() => 'other'));
    const bounds = this.definition.kind === 'histogram' ? this.definition.buckets : [];
    const series = { values, count: 0, sum: 0, buckets: bounds.map(() => 0) };
    this.#series.set(key, series);
    return series;
  }

  /** The label values are ordered by first use. */
  all(): Iterable<Series> {
    return this.#series.values();
  }
}

/** The `content-type` of `/metrics`: Prometheus's text format 0.0.4. */
export const METRICS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** Values of one gauge of the table, read at the moment of the scrape. */
export interface GaugeReading {
  readonly name: string;
  readonly values: readonly {
    readonly value: number;
    readonly labels?: Readonly<Record<string, string>>;
  }[];
}

/** Values that are read rather than recorded, with the definition of their metric. */
interface Sample extends GaugeReading {
  readonly kind: 'counter' | 'gauge';
  readonly help: string;
}

/** Formats a recorded metric in Prometheus's text format, with its HELP and TYPE lines. */
function exposeSeries(name: string, set: SeriesSet): string[] {
  const { definition } = set;
  const lines = formatMetricHeader(name, definition.kind, definition.help);
  for (const series of set.all()) {
    const labels = definition.labels.map((label, i) =>
      formatLabelPair(label, series.values[i] ?? ''),
    );
    if (definition.kind === 'counter') {
      lines.push(formatSample(name, labels, series.count));
      continue;
    }
    let cumulative = 0;
    for (const [index, bound] of definition.buckets.entries()) {
      cumulative += series.buckets[index] ?? 0;
      lines.push(
        formatSample(
          `${name}_bucket`,
          [...labels, formatLabelPair('le', String(bound))],
          cumulative,
        ),
      );
    }
    lines.push(
      formatSample(`${name}_bucket`, [...labels, formatLabelPair('le', '+Inf')], series.count),
    );
    lines.push(formatSample(`${name}_sum`, labels, series.sum));
    lines.push(formatSample(`${name}_count`, labels, series.count));
  }
  return lines;
}

/** Formats values in Prometheus's text format; empty if there are none. */
function exposeValues({ name, kind, help, values }: Sample): string[] {
  if (values.length === 0) return [];
  const lines = values.map(({ value, labels = {} }) => {
    const pairs = Object.entries(labels).map(([label, text]) => formatLabelPair(label, text));
    return formatSample(name, pairs, value);
  });
  return [...formatMetricHeader(name, kind, help), ...lines];
}

function formatMetricHeader(name: string, kind: string, help: string): string[] {
  const text = help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
  return [`# HELP ${name} ${text}`, `# TYPE ${name} ${kind}`];
}

function formatLabelPair(label: string, value: string): string {
  const text = value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');
  return `${label}="${text}"`;
}

function formatSample(name: string, labels: readonly string[], value: number): string {
  return `${name}${labels.length === 0 ? '' : `{${labels.join(',')}}`} ${value}`;
}

/**
 * The state of the process under the names that every Prometheus dashboard knows. The values are
 * read only when a client scrapes, so no timer is needed.
 */
export function readProcessSamples(): Sample[] {
  const { user, system } = process.cpuUsage();
  const memory = process.memoryUsage();
  const sample = (kind: Sample['kind'], name: string, help: string, value: number): Sample => {
    return { kind, name, help, values: [{ value }] };
  };
  const gauge = sample.bind(null, 'gauge');
  return [
    sample(
      'counter',
      'process_cpu_seconds_total',
      'User and system CPU time spent in seconds.',
      (user + system) / 1e6,
    ),
    gauge(
      'process_start_time_seconds',
      'Start time of the process since the Unix epoch in seconds.',
      performance.timeOrigin / 1000,
    ),
    gauge('process_resident_memory_bytes', 'Resident memory size in bytes.', memory.rss),
    gauge('nodejs_heap_size_total_bytes', 'Process heap size in bytes.', memory.heapTotal),
    gauge('nodejs_heap_size_used_bytes', 'Process heap size used in bytes.', memory.heapUsed),
    gauge('nodejs_external_memory_bytes', 'External memory size in bytes.', memory.external),
    gauge(
      'nodejs_eventloop_utilization',
      'Share of time the event loop was busy since the start, 0 to 1.',
      performance.eventLoopUtilization().utilization,
    ),
  ];
}

/** The lag of the event loop. */
export interface LoopLagMonitor {
  /**
   * The lag since the previous reading, in seconds. The first reading only starts the measurement
   * and returns null.
   */
  read(): Readonly<Record<'0.5' | '0.99' | '1', number>> | null;
}

/** The sampling interval, in ms; shorter delays are not detected. */
const RESOLUTION_MS = 20;
const NANOSECONDS = 1e9;

/**
 * The measurement starts with the first reading, so that it does not wake a process without
 * scrapes.
 */
export function startLoopLagMonitor(): LoopLagMonitor {
  let histogram: ReturnType<typeof monitorEventLoopDelay> | undefined;
  return {
    read() {
      if (histogram === undefined) {
        histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
        histogram.enable();
        return null;
      }
      // The monitor measures from one sample to the next, so a punctual sample reads as the
      // resolution.
      const late = (value: number) => Math.max(0, value / NANOSECONDS - RESOLUTION_MS / 1_000);
      const lag = {
        '0.5': late(histogram.percentile(50)),
        '0.99': late(histogram.percentile(99)),
        '1': late(histogram.max),
      };
      histogram.reset();
      return lag;
    },
  };
}
