import type { Steady } from './doubles.ts';
import type { FairnessFigures } from './measure-fairness.ts';
import { round, table } from './report.ts';
import { quantile } from './statistics.ts';

/** The others may become so much slower than they usually are. */
const LIMIT = 2;

/** What quiet people notice of what happens elsewhere. */
export function renderFairness(figures: readonly FairnessFigures[]): string {
  const head = [
    '20 quiet chats while …',
    '',
    'normal p50',
    'p95',
    'meanwhile p50',
    'p95',
    'slowest',
    'times p50',
    'p95',
    `≤ ${LIMIT}`,
    'MB before',
    'at most',
  ];
  return table([head, ...figures.map(row)]);
}

function row(figures: FairnessFigures): string[] {
  const { disturbance, topology, normal, meanwhile, normalMb, peakMb } = figures;
  const times = { p50: ratio(figures, 0.5), p95: ratio(figures, 0.95) };
  const met = Math.max(times.p50, times.p95) <= LIMIT && meanwhile.unanswered === 0;
  const lost = meanwhile.unanswered > 0 ? ` (${meanwhile.unanswered} unanswered)` : '';
  return [
    disturbance,
    topology,
    ms(normal, 0.5),
    ms(normal, 0.95),
    ms(meanwhile, 0.5),
    ms(meanwhile, 0.95),
    ms(meanwhile, 1),
    round(times.p50),
    round(times.p95),
    `${met ? 'met' : 'MISSED'}${lost}`,
    normalMb.toFixed(0),
    peakMb.toFixed(0),
  ];
}

function ratio({ normal, meanwhile }: FairnessFigures, share: number): number {
  if (meanwhile.latencies.length === 0) return Number.POSITIVE_INFINITY;
  return quantile(meanwhile.latencies, share) / quantile(normal.latencies, share);
}

function ms({ latencies }: Steady, share: number): string {
  return latencies.length === 0 ? '–' : `${round(quantile(latencies, share))} ms`;
}
