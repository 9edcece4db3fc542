import type { SeriesSet } from './series.ts';

/** What `/metrics` answers as `content-type`: Prometheus's text format 0.0.4. */
export const METRICS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** Values of one gauge of the table, read at the moment of the scrape. */
export interface GaugeReading {
  readonly name: string;
  readonly values: readonly {
    readonly value: number;
    readonly labels?: Readonly<Record<string, string>>;
  }[];
}

/** A value of the process itself. */
export interface Sample {
  readonly name: string;
  readonly kind: 'counter' | 'gauge';
  readonly help: string;
  readonly value: number;
  readonly labels?: Readonly<Record<string, string>>;
}

/** A recorded metric in Prometheus's text format, with its HELP and TYPE lines. */
export function exposeSeries(name: string, set: SeriesSet): string[] {
  const { definition } = set;
  const lines = header(name, definition.kind, definition.help);
  for (const series of set.all()) {
    const labels = definition.labels.map((label, i) => pair(label, series.values[i] ?? ''));
    if (definition.kind === 'counter') {
      lines.push(sampleLine(name, labels, series.count));
      continue;
    }
    let cumulative = 0;
    for (const [index, bound] of definition.buckets.entries()) {
      cumulative += series.buckets[index] ?? 0;
      lines.push(sampleLine(`${name}_bucket`, [...labels, pair('le', String(bound))], cumulative));
    }
    lines.push(sampleLine(`${name}_bucket`, [...labels, pair('le', '+Inf')], series.count));
    lines.push(sampleLine(`${name}_sum`, labels, series.sum));
    lines.push(sampleLine(`${name}_count`, labels, series.count));
  }
  return lines;
}

/** A gauge in Prometheus's text format; nothing where it has no value. */
export function exposeGauge({ name, values }: GaugeReading, help: string): string[] {
  if (values.length === 0) return [];
  const lines = values.map(({ value, labels = {} }) => {
    const pairs = Object.entries(labels).map(([label, text]) => pair(label, text));
    return sampleLine(name, pairs, value);
  });
  return [...header(name, 'gauge', help), ...lines];
}

/** A value read now in Prometheus's text format. */
export function exposeSample({ name, kind, help, value, labels = {} }: Sample): string[] {
  const pairs = Object.entries(labels).map(([label, text]) => pair(label, text));
  return [...header(name, kind, help), sampleLine(name, pairs, value)];
}

function header(name: string, kind: string, help: string): string[] {
  const text = help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
  return [`# HELP ${name} ${text}`, `# TYPE ${name} ${kind}`];
}

function pair(label: string, value: string): string {
  const text = value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');
  return `${label}="${text}"`;
}

function sampleLine(name: string, labels: readonly string[], value: number): string {
  return `${name}${labels.length === 0 ? '' : `{${labels.join(',')}}`} ${value}`;
}
