import fc from 'fast-check';
import { Counter, Histogram, Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { toRunOptions } from '../testing/test-length.ts';
import { PARLEY_METRICS } from './metric-table.ts';
import { createMetrics } from './metrics.ts';

const TABLE = {
  t_total: { kind: 'counter', help: 'A "count"\\ of\nthings.', labels: ['a', 'b'] },
  t_plain_total: { kind: 'counter', help: 'Plain.', labels: [] },
  t_seconds: { kind: 'histogram', help: 'Times.', labels: ['a'], buckets: [0.1, 1, 2.5] },
  t_plain_seconds: { kind: 'histogram', help: 'Plain times.', labels: [], buckets: [1] },
} as const;

const throwing = (mistake: string) => {
  throw new Error(mistake);
};

/** The lines of Parley's own metrics with sorted labels, so that two outputs can be compared. */
function lines(text: string): string[] {
  const own = text.split('\n').filter((line) => /^(# \w+ )?t_/.test(line));
  const sorted = own.map((line) =>
    line.replace(/\{(.*)\}/, (_all, inside: string) => {
      const pairs = inside.match(/\w+="(?:[^"\\]|\\.)*"/g) ?? [];
      return `{${pairs.toSorted().join(',')}}`;
    }),
  );
  return sorted.toSorted();
}

describe('createMetrics', () => {
  it('[D10] exposes the same text as prom-client for the same events', async () => {
    const label = fc.constantFrom('x', 'y "z"', 'back\\slash', 'two\nlines', '', '🙂');
    const event = fc.oneof(
      fc.record({ kind: fc.constant('count' as const), a: label, b: label, by: fc.nat(9) }),
      fc.record({ kind: fc.constant('time' as const), a: label, ms: fc.nat(4000) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(event, { maxLength: 30 }), async (events) => {
        const ours = createMetrics({ onMistake: throwing, table: TABLE });
        const theirs = reference();
        for (const one of events) {
          if (one.kind === 'count') {
            const { a, b, by } = one;
            ours.meter.count('t_total', { a, b }, by);
            theirs.total.inc({ a, b }, by);
            ours.meter.count('t_plain_total');
            theirs.plainTotal.inc();
          } else {
            const { a, ms } = one;
            ours.meter.observe('t_seconds', ms, { a });
            theirs.seconds.observe({ a }, ms / 1000);
            ours.meter.observe('t_plain_seconds', ms);
            theirs.plainSeconds.observe(ms / 1000);
          }
        }
        expect(lines(ours.render())).toEqual(lines(await theirs.registry.metrics()));
      }),
      toRunOptions(50),
    );
  });

  it('[D10] gives every metric HELP and TYPE, counters _total, and durations in seconds', () => {
    const gauges = Object.entries(PARLEY_METRICS).flatMap(([name, { kind, labels }]) => {
      const values = [{ value: 1, labels: Object.fromEntries(labels.map((l) => [l, 'x'])) }];
      return kind === 'gauge' ? [{ name, values }] : [];
    });
    const text = createMetrics({ onMistake: throwing }).render(gauges);
    const names = {
      counter: /^parley_\w+_total$/,
      histogram: /^parley_\w+_seconds$/,
      gauge: /^parley_\w+(?<!_total)$/,
    };
    for (const [name, { kind }] of Object.entries(PARLEY_METRICS)) {
      expect(name).toMatch(names[kind]);
      expect(text).toMatch(new RegExp(`^# HELP ${name} .+\n# TYPE ${name} ${kind}$`, 'm'));
    }
    expect(text).toMatch(/^process_resident_memory_bytes [1-9]\d{6,}$/m);
    expect(text).toMatch(/^process_cpu_seconds_total \d/m);
    expect(text.endsWith('\n')).toBe(true);
  });

  it('[D10] shows gauges as read, and reports an undeclared gauge', () => {
    const mistakes: string[] = [];
    const { render } = createMetrics({ onMistake: (m) => mistakes.push(m) });
    const values = [
      { value: 3, labels: { kind: 'refused' } },
      { value: 0, labels: { kind: 'uncertain' } },
    ];
    const text = render([
      { name: 'parley_dead_letters', values },
      { name: 'parley_turns_running', values: [] },
    ]);
    expect(text).toContain('parley_dead_letters{kind="refused"} 3\n');
    expect(text).toContain('parley_dead_letters{kind="uncertain"} 0\n');
    expect(text.match(/# TYPE parley_dead_letters/g)).toHaveLength(1);
    expect(text).not.toContain('parley_turns_running');
    expect(mistakes).toEqual([]);
    render([{ name: 'parley_ingress_total', values }]);
    render([{ name: 'parley_dead_letters', values: [{ value: 1 }] }]);
    expect(mistakes).toEqual([
      expect.stringContaining('no gauge parley_ingress_total'),
      expect.stringContaining('labels (kind)'),
    ]);
  });

  it('counts milliseconds in buckets of seconds', () => {
    const { meter, render } = createMetrics({ onMistake: throwing, table: TABLE });
    for (const ms of [100, 101, 9000]) meter.observe('t_seconds', ms, { a: 'x' });
    const text = render();
    expect(text).toContain('t_seconds_bucket{a="x",le="0.1"} 1\n');
    expect(text).toContain('t_seconds_bucket{a="x",le="1"} 2\n');
    expect(text).toContain('t_seconds_bucket{a="x",le="2.5"} 2\n');
    expect(text).toContain('t_seconds_bucket{a="x",le="+Inf"} 3\n');
    expect(text).toContain('t_seconds_count{a="x"} 3\n');
  });

  it.each([
    ['an undeclared name', 'nothing_total', {}, 1, 'no metric nothing_total'],
    ['a name that JavaScript objects inherit', 'constructor', {}, 1, 'no metric constructor'],
    ['a missing label', 't_total', { a: 'x' }, 1, 'labels (a, b), not (a)'],
    ['an extra label', 't_plain_total', { a: 'x' }, 1, 'labels (), not (a)'],
    ['a metric of another kind', 't_seconds', { a: 'x' }, 1, 'is a histogram'],
    ['a negative number', 't_plain_total', {}, -1, 'given -1'],
    ['no number', 't_plain_total', {}, Number.NaN, 'given NaN'],
  ])('reports %s and records nothing', (_what, name, labels, by, words) => {
    const mistakes: string[] = [];
    const { meter, render } = createMetrics({ onMistake: (m) => mistakes.push(m), table: TABLE });
    const before = lines(render());
    meter.count(name, labels, by);
    expect(mistakes).toEqual([expect.stringContaining(words)]);
    expect(lines(render())).toEqual(before);
  });

  it('[D07] stays bounded when a label contains ids: the rest is counted as other', () => {
    const { meter, render } = createMetrics({ onMistake: throwing, table: TABLE });
    for (let i = 0; i < 1000; i++) meter.count('t_total', { a: `chat-${i}`, b: 'b' });
    const series = lines(render()).filter((line) => line.startsWith('t_total{'));
    expect(series).toHaveLength(201);
    expect(series).toContain('t_total{a="other",b="other"} 800');
  });
});

function reference() {
  const registry = new Registry();
  const registers = [registry];
  const of = (name: keyof typeof TABLE) => ({ name, help: TABLE[name].help, registers });
  return {
    registry,
    total: new Counter({ ...of('t_total'), labelNames: ['a', 'b'] }),
    plainTotal: new Counter(of('t_plain_total')),
    seconds: new Histogram({ ...of('t_seconds'), labelNames: ['a'], buckets: [0.1, 1, 2.5] }),
    plainSeconds: new Histogram({ ...of('t_plain_seconds'), buckets: [1] }),
  };
}
